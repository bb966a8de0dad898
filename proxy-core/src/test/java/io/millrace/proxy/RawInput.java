package io.millrace.proxy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Strictly parses HTTP/1 messages from a socket; truncated ones fail. */
final class RawInput {
    private final InputStream in;

    RawInput(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the first 60 bytes for the name of a test, with unprintable ones as numbers. */
    static String printable(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Math.min(60, text.length()); i++) {
            char c = text.charAt(i);
            out.append(c < ' ' || c > '~' ? "<" + Integer.toHexString(c) + ">" : String.valueOf(c));
        }
        return out.toString();
    }

    /** Returns the next head with its empty line; null at the end of the stream. */
    String readHead() throws IOException {
        StringBuilder head = new StringBuilder();
        int b;
        while ((b = in.read()) >= 0) {
            head.append((char) b);
            if (b == '\n' && head.length() >= 4 && head.indexOf("\r\n\r\n", head.length() - 4) >= 0) {
                return head.toString();
            }
        }
        if (head.length() > 0) {
            throw new IOException("ended within a head: " + head);
        }
        return null;
    }

    String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        int b;
        while ((b = in.read()) != '\n') {
            if (b < 0) {
                throw new IOException("ended within a line: " + line);
            }
            if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    byte[] read(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new IOException("ended after " + bytes.length + " of " + length + " bytes");
        }
        return bytes;
    }

    byte[] readToEnd() throws IOException {
        return in.readAllBytes();
    }

    byte[] readChunked() throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        int size;
        while ((size = Integer.parseInt(readLine(), 16)) > 0) {
            content.write(read(size));
            if (!readLine().isEmpty()) {
                throw new IOException("no CRLF behind a chunk");
            }
        }
        if (!readLine().isEmpty()) {
            throw new IOException("trailers");
        }
        return content.toByteArray();
    }
}
