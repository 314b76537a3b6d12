//! What a partial clone has left elsewhere: objects that others in its promisor packs name.

use std::collections::HashSet;
use std::fs;

use crate::git::hash::Kind;
use crate::git::open::Repo;
use crate::git::repack::list_index;
use crate::git::tree::decode;
use crate::git::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

use super::commit::Links;

/// The objects that may be missing.
pub(in crate::git) fn objects(repo: &Repo) -> Result<HashSet<ObjectId>, Error> {
    let backend = repo.backend.reopen()?;
    let dir = repo.pack_dir();
    let mut promised = HashSet::new();
    for entry in fs::read_dir(&dir).at("read", &dir)? {
        let path = entry.at("read", &dir)?.path();
        if path
            .extension()
            .is_none_or(|extension| extension != "promisor")
        {
            continue;
        }
        let index = path.with_extension("idx");
        let ids = list_index(backend.format(), &fs::read(&index).at("read", &index)?);
        for id in ids.unwrap_or_default() {
            let Ok(Some(object)) = backend.read(&id) else {
                continue;
            };
            match object.kind {
                Kind::Tree => {
                    let entries = decode(backend.format(), &object.bytes).unwrap_or_default();
                    promised.extend(entries.iter().map(|entry| entry.id));
                }
                Kind::Commit => {
                    if let Some(links) = Links::parse(&object.bytes) {
                        promised.insert(links.tree);
                        promised.extend(links.parents);
                    }
                }
                Kind::Blob | Kind::Tag => {}
            }
        }
    }
    promised.retain(|id| !backend.exists(id));
    Ok(promised)
}
