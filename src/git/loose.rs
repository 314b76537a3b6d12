//! Loose objects, read without libgit2: on a damaged one its inflating can go on for ever.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::bufread::ZlibDecoder;

use super::backend::Object;
use super::hash::{Checksum, Kind};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The longest header there is: a kind, a size, and what parts them.
const HEADER: usize = 32;

/// What became of reading a loose object.
pub(super) enum Loose {
    /// There is none: it may be in a pack.
    Absent,
    /// It is there, and has its name.
    Whole(Object),
    /// It is there, and is not what it should be.
    Damaged(String),
}

/// The loose objects of a repository.
pub(super) struct LooseObjects {
    dir: PathBuf,
    format: ObjectFormat,
    /// Which of the directories by first byte were there when the first object was asked for. In a repository whose
    /// objects are packed this saves a look for each of them; what came since is left to libgit2.
    fans: OnceLock<Vec<bool>>,
}

impl LooseObjects {
    pub fn new(common_dir: &Path, format: ObjectFormat) -> Self {
        Self {
            dir: common_dir.join("objects"),
            format,
            fans: OnceLock::new(),
        }
    }

    fn has_fan(&self, id: &ObjectId) -> bool {
        let fans = self.fans.get_or_init(|| {
            let mut fans = vec![false; 256];
            let Ok(entries) = fs::read_dir(&self.dir) else {
                return vec![true; 256];
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let number = name.to_str().filter(|name| name.len() == 2);
                let number = number.and_then(|name| usize::from_str_radix(name, 16).ok());
                if let Some(number) = number {
                    fans[number] = true;
                }
            }
            fans
        });
        fans[usize::from(id.as_bytes()[0])]
    }

    fn open(&self, id: &ObjectId) -> Option<io::Result<ZlibDecoder<BufReader<File>>>> {
        if !self.has_fan(id) {
            return None;
        }
        let hex = id.to_string();
        let (dir, name) = hex.split_at(2);
        match File::open(self.dir.join(dir).join(name)) {
            Ok(file) => Some(Ok(ZlibDecoder::new(BufReader::new(file)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Reads an object.
    pub fn read(&self, id: &ObjectId) -> Loose {
        let Some(content) = self.open(id) else {
            return Loose::Absent;
        };
        match content.and_then(|content| inflate(content, self.format)) {
            Ok((object, found)) if found == *id => Loose::Whole(object),
            Ok((_, found)) => Loose::Damaged(format!("its content is that of {found}")),
            Err(error) => Loose::Damaged(error.to_string()),
        }
    }

    /// How long an object says that it is; none when it is not there or says nothing.
    pub fn size(&self, id: &ObjectId) -> Option<io::Result<u64>> {
        let content = self.open(id)?;
        Some(content.and_then(|mut content| Ok(header(&mut content)?.1)))
    }
}

/// Kind and size, as an object begins, and the bytes that said so.
fn header(content: &mut impl Read) -> io::Result<(Kind, u64, Vec<u8>)> {
    let odd = || io::Error::other("it does not begin as an object does");
    let mut header = Vec::with_capacity(HEADER);
    loop {
        let mut byte = [0];
        content.read_exact(&mut byte)?;
        if byte[0] == 0 {
            break;
        }
        header.push(byte[0]);
        if header.len() > HEADER {
            return Err(odd());
        }
    }
    let text = std::str::from_utf8(&header).map_err(|_| odd())?;
    let (kind, size) = text.split_once(' ').ok_or_else(odd)?;
    let kinds = [Kind::Commit, Kind::Tree, Kind::Blob, Kind::Tag];
    let kind = kinds
        .into_iter()
        .find(|known| known.as_str() == kind)
        .ok_or_else(odd)?;
    let size: u64 = size.parse().map_err(|_| odd())?;
    Ok((kind, size, header))
}

/// Kind and content, and the id that they have.
fn inflate(mut content: impl Read, format: ObjectFormat) -> io::Result<(Object, ObjectId)> {
    let (kind, size, header) = header(&mut content)?;
    let mut bytes = Vec::new();
    // One byte more than there should be: reading to the end is what checks zlib's own checksum.
    content
        .take(size.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        return Err(io::Error::other("it is not as long as it says"));
    }
    let mut checksum = Checksum::new(format);
    checksum.update(&header);
    checksum.update(b"\0");
    checksum.update(&bytes);
    Ok((Object { kind, bytes }, checksum.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::hash::hash_object;
    use flate2::write::ZlibEncoder;
    use std::io::Write as _;

    #[test]
    fn every_cut_and_every_flip_comes_to_an_end() {
        let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        let content = "some content\n".repeat(40);
        encoder
            .write_all(format!("blob {}\0{content}", content.len()).as_bytes())
            .unwrap();
        let whole = encoder.finish().unwrap();
        let id = hash_object(ObjectFormat::Sha1, Kind::Blob, content.as_bytes()).unwrap();
        let read = |bytes: &[u8]| inflate(ZlibDecoder::new(bytes), ObjectFormat::Sha1);
        assert_eq!(read(&whole).unwrap().1, id);
        for at in 0..whole.len() {
            assert!(read(&whole[..at]).is_err(), "{at}");
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                if let Ok((object, found)) = read(&flipped) {
                    assert!(found != id || object.bytes == content.as_bytes());
                }
            }
        }
    }
}
