package io.millrace.proxy.observe.log;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A log target that writes to standard output, for containers and journald. Never rotated. Confined to the writer
 * thread.
 */
public final class StandardOutputTarget implements LogTarget {
    private final FileOutputStream output = new FileOutputStream(FileDescriptor.out);

    @Override
    public String description() {
        return "standard output";
    }

    @Override
    public void maintain(long nowMillis) {
        // Standard output is always open. The process that reads the output rotates its files.
    }

    @Override
    public boolean isAtStart() {
        return false;
    }

    @Override
    public void write(ByteBuffer lines) throws IOException {
        output.write(lines.array(), lines.arrayOffset() + lines.position(), lines.remaining());
        lines.position(lines.limit());
    }

    @Override
    public void close() {
        // the standard output of the process stays open for other users
    }
}
