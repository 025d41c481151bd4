import java.io.IOException;
import java.util.Arrays;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.SeekableInputStream;
import org.apache.paimon.fs.local.LocalFileIO;

/**
 * Local files of which Avro reads manifests in blocks: it asks Paimon's own streams for each byte
 * of a header by a system call.
 */
public class BufferedFileIO extends LocalFileIO {

    private static final int BLOCK = 1 << 16;

    @Override
    public SeekableInputStream newInputStream(Path path) throws IOException {
        SeekableInputStream stream = super.newInputStream(path);
        boolean isRandom = !path.getName().startsWith("manifest"); // data files are read in blocks
        return isRandom ? stream : new Buffered(stream);
    }

    private static class Buffered extends SeekableInputStream {
        private final SeekableInputStream stream;
        private byte[] block = new byte[0];
        private long start; // of the block
        private int next; // in the block

        Buffered(SeekableInputStream stream) {
            this.stream = stream;
        }

        @Override
        public void seek(long position) throws IOException {
            if (position >= start && position <= start + block.length) {
                next = (int) (position - start);
            } else {
                stream.seek(position);
                start = position;
                block = new byte[0];
                next = 0;
            }
        }

        @Override
        public long getPos() {
            return start + next;
        }

        @Override
        public int read() throws IOException {
            return isAtEnd() ? -1 : block[next++] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (isAtEnd()) {
                return -1;
            }
            int count = Math.min(length, block.length - next);
            System.arraycopy(block, next, target, offset, count);
            next += count;
            return count;
        }

        private boolean isAtEnd() throws IOException {
            if (next == block.length) {
                byte[] bytes = new byte[BLOCK];
                int count = Math.max(0, stream.read(bytes, 0, BLOCK));
                start += block.length;
                block = Arrays.copyOf(bytes, count);
                next = 0;
            }
            return block.length == 0;
        }

        @Override
        public void close() throws IOException {
            stream.close();
        }
    }
}
