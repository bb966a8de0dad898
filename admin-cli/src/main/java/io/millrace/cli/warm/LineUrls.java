package io.millrace.cli.warm;

import io.millrace.cli.log.LineSource;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.log.LogLine;
import io.millrace.cli.log.LogParser;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The URLs of a text: one on each line, or the URLs of GET requests in an access log. Confined to one thread. */
public final class LineUrls implements UrlSource {
    private final String name;
    private final InputStream in;
    private final boolean isLog;
    private final String base;
    private final LineSource lines = new LineSource();
    private boolean isAtEnd;
    private long skipped;
    private long withoutHost;

    private LineUrls(String name, InputStream in, boolean isLog, String base) {
        this.name = name;
        this.in = in;
        this.isLog = isLog;
        this.base = base;
    }

    /**
     * Reads one URL from each line; empty lines and lines that begin with {@code #} are skipped.
     *
     * @param name for messages
     * @param in owned by the result
     */
    public static LineUrls list(String name, InputStream in) {
        return new LineUrls(name, in, false, "");
    }

    /**
     * Reads the URLs of GET requests that were answered with a status below 400.
     *
     * @param name for messages
     * @param in owned by the result
     * @param base scheme and host for logs without hosts, such as {@code https://www.example.com}; empty for none
     */
    public static LineUrls accessLog(String name, InputStream in, String base) {
        String whole = base.endsWith("/") ? base.substring(0, base.length() - 1) : base;
        return new LineUrls(name, in, true, whole);
    }

    /** Opens a file, which may be compressed by gzip; {@code -} means {@code standardInput}. */
    public static InputStream open(String file, InputStream standardInput) throws IOException {
        if (file.equals("-")) {
            return InputFiles.decompressed(standardInput);
        }
        try {
            return InputFiles.open(Path.of(file));
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            throw LogFailure.of(Path.of(file), e);
        }
    }

    @Override
    public @Nullable Item next() throws IOException {
        for (String line = line(); line != null; line = line()) {
            String url = isLog ? urlOf(line) : line.strip();
            if (url != null && !url.isEmpty() && url.charAt(0) != '#') {
                return Item.of(url);
            }
        }
        return null;
    }

    private @Nullable String line() throws IOException {
        if (isAtEnd) {
            return null;
        }
        try {
            String line = lines.next(in);
            if (line == null) {
                isAtEnd = true;
                line = lines.rest();
            }
            return line;
        } catch (EOFException e) {
            throw new IOException(name + ": the compressed file is truncated", e);
        } catch (IOException e) {
            throw new IOException(name + ": cannot be read (" + e.getMessage() + ")", e);
        }
    }

    private @Nullable String urlOf(String line) {
        LogLine parsed = LogParser.parse(line);
        String url = parsed == null ? null : parsed.url();
        if (parsed == null || url == null || !"GET".equals(parsed.method()) || parsed.status() >= 400) {
            skipped += line.isEmpty() ? 0 : 1;
            return null;
        }
        if (!url.startsWith("/")) {
            return url;
        }
        if (base.isEmpty()) {
            withoutHost++;
            skipped++;
            return null;
        }
        return base + url;
    }

    @Override
    public long skipped() {
        return skipped;
    }

    /** Number of log lines whose URL has no host. */
    public long withoutHost() {
        return withoutHost;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
