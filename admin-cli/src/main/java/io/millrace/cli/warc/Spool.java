package io.millrace.cli.warc;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A buffer for content of any length. Beyond 1 MiB it uses a temporary file. Confined to one thread. */
public final class Spool implements Closeable {
    static final int MEMORY_BYTES = 1 << 20;

    private final Path directory;
    private final ByteArrayOutputStream memory = new ByteArrayOutputStream();
    private @Nullable Path file;
    private @Nullable OutputStream out;
    private long length;

    /** @param directory where the temporary file is created, if one is needed */
    public Spool(Path directory) {
        this.directory = directory;
    }

    /** Appends bytes. */
    public void add(byte[] bytes) throws IOException {
        length += bytes.length;
        OutputStream open = out;
        if (open == null && memory.size() + bytes.length <= MEMORY_BYTES) {
            memory.writeBytes(bytes);
            return;
        }
        if (open == null) {
            Path created = Files.createTempFile(directory, ".millctl-export", null);
            created.toFile().deleteOnExit();
            file = created;
            open = Files.newOutputStream(created);
            out = open;
        }
        open.write(bytes);
    }

    /** Returns the number of bytes that were added. */
    public long length() {
        return length;
    }

    /** Writes all content to a stream, which stays open. May be called more than once. */
    public void writeTo(OutputStream to) throws IOException {
        memory.writeTo(to);
        OutputStream open = out;
        Path spooled = file;
        if (open != null && spooled != null) {
            open.flush();
            Files.copy(spooled, to);
        }
    }

    @Override
    public void close() throws IOException {
        OutputStream open = out;
        Path spooled = file;
        if (open != null) {
            open.close();
        }
        if (spooled != null) {
            Files.deleteIfExists(spooled);
        }
    }
}
