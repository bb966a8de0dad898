package io.millrace.cli.warm;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Fetches sitemaps through the proxy, each into a temporary file, because a run may take hours to read it. Confined to
 * one thread. Blocks.
 */
public final class ProxiedDocuments implements SitemapUrls.Documents {
    private final ProxyLink link;
    private final List<Endpoint> endpoints;

    /** @param link owned by the caller */
    public ProxiedDocuments(ProxyLink link, List<Endpoint> endpoints) {
        this.link = link;
        this.endpoints = endpoints;
    }

    @Override
    public InputStream open(String text) throws IOException {
        WarmUrl url = WarmUrl.parse(text);
        Endpoint endpoint = url == null ? null : Endpoint.forUrl(url, endpoints);
        if (url == null) {
            throw new IOException(text + ": not an absolute http or https URL of a sitemap");
        }
        if (endpoint == null) {
            throw new IOException(text + ": the proxy has no listener for its scheme; save the sitemap as a file");
        }
        Path file = Files.createTempFile("millctl-sitemap", null);
        boolean isDone = false;
        try {
            ProxyReply reply;
            try (OutputStream out = new Limited(Files.newOutputStream(file), text)) {
                reply = link.get(endpoint, url, List.of(), out);
            } finally {
                link.close();
            }
            check(text, reply);
            InputStream in = new Temporary(InputFiles.open(file), file);
            isDone = true;
            return in;
        } finally {
            if (!isDone) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static void check(String text, ProxyReply reply) throws IOException {
        // A response without Cache-Status comes from the proxy itself. Its status 404 means that no rule maps the URL.
        if (reply.status() == 404 && reply.cacheStatus() == null) {
            throw new IOException(text + ": no rule of the configuration maps it; save the sitemap as a file");
        }
        if (reply.status() != 200) {
            throw new IOException(text + ": the answer has status " + reply.status() + ", expected 200");
        }
    }

    /** The content of a file. Deletes the file when the stream is closed. */
    private static final class Temporary extends FilterInputStream {
        private final Path file;

        Temporary(InputStream in, Path file) {
            super(in);
            this.file = file;
        }

        @Override
        public void close() throws IOException {
            super.close();
            Files.deleteIfExists(file);
        }
    }

    /** Passes on bytes up to the length limit of a sitemap, then fails. */
    private static final class Limited extends FilterOutputStream {
        private final String name;
        private long left = SitemapUrls.BYTES_MAX;

        Limited(OutputStream out, String name) {
            super(out);
            this.name = name;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            left -= length;
            if (left < 0) {
                throw new IOException(name + ": longer than " + (SitemapUrls.BYTES_MAX >> 20) + " MiB");
            }
            out.write(bytes, offset, length);
        }
    }
}
