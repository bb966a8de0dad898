package io.millrace.cli.command;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Standard output in UTF-8. Detects that the reader has closed the pipe, as {@code head} does after the last line.
 * Thread-safe.
 */
public final class DataStream extends PrintStream {
    private final PipeWatcher pipe;

    /** @param out receives the bytes. A closed pipe is recognized by the system's message "Broken pipe". */
    public DataStream(OutputStream out) {
        this(new PipeWatcher(out));
    }

    private DataStream(PipeWatcher pipe) {
        // The output is UTF-8 in every locale, since JSON is UTF-8.
        super(pipe, false, StandardCharsets.UTF_8);
        this.pipe = pipe;
    }

    /** Returns true if a write failed because the reader has closed the pipe. */
    public boolean isReaderGone() {
        return pipe.readerGone;
    }

    /** Passes on bytes, and remembers whether a write failed because of a closed pipe. */
    private static final class PipeWatcher extends FilterOutputStream {
        private volatile boolean readerGone;

        PipeWatcher(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            try {
                out.write(bytes, offset, length);
            } catch (IOException e) {
                readerGone |= "Broken pipe".equals(e.getMessage());
                throw e;
            }
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }
    }
}
