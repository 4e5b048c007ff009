package bench;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Two numbers in a file that the processes of a trial share. The first is raised by
 * whoever holds the lock: read, add one, write. If two hold it at once, a count is
 * lost. The second says who was there last.
 */
final class Guard implements AutoCloseable {
    static final int SIZE = 2 * Long.BYTES;

    private final FileChannel file;
    private final MappedByteBuffer numbers;

    private Guard(FileChannel file, MappedByteBuffer numbers) {
        this.file = file;
        this.numbers = numbers;
    }

    static Guard open(String path) throws IOException {
        FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE);
        MappedByteBuffer numbers = file.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
        numbers.order(ByteOrder.LITTLE_ENDIAN);
        return new Guard(file, numbers);
    }

    /** Tells whether the one before was somebody else. */
    boolean pass(long who) {
        long count = numbers.getLong(0);
        boolean changed = numbers.getLong(Long.BYTES) != who;
        numbers.putLong(Long.BYTES, who);
        numbers.putLong(0, count + 1);
        return changed;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
