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
    private final Sink sink;

    /** @param out receives the bytes; a pipe without a reader fails with the message of the system */
    public DataStream(OutputStream out) {
        this(new Sink(out));
    }

    private DataStream(Sink sink) {
        // The output is UTF-8 in every locale, since JSON is UTF-8.
        super(sink, false, StandardCharsets.UTF_8);
        this.sink = sink;
    }

    public boolean isReaderGone() {
        return sink.readerGone;
    }

    private static final class Sink extends FilterOutputStream {
        private volatile boolean readerGone;

        Sink(OutputStream out) {
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
