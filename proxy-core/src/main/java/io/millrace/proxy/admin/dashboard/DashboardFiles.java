package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.RequestSender;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The static files of the dashboard. They are read and compressed when the first file is requested. All paths except
 * that of the start page contain a digest of the files, so that browsers can cache them without revalidation.
 *
 * <p>Thread-safe. The first use blocks for some milliseconds; later ones only look up a reply.
 */
final class DashboardFiles {
    /** Path of the start page. */
    static final String ROOT = "/ui/";

    /** Start of the paths of all other files. */
    static final String VERSIONED = ROOT + "f/";

    /**
     * The Content-Security-Policy. It forbids inline code, other origins and frames. It requires Trusted Types but
     * allows no Trusted Types policy, so the browser also refuses assignments to innerHTML.
     */
    static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri"
                    + " 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
                    + " trusted-types 'none'";

    private static final String INDEX = "index.html";

    /** Placeholder in the start page for the directory of the other files. */
    private static final String DIRECTORY_MARK = "{files}";

    private static final String CACHED_FOR_A_YEAR = "public, max-age=31536000, immutable";

    private static final int VERSION_LENGTH = 16;

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private static final Map<String, String> FIELDS = Map.of(
            "content-security-policy", POLICY,
            "cross-origin-opener-policy", "same-origin",
            "cross-origin-resource-policy", "same-origin",
            "referrer-policy", "no-referrer",
            "vary", "accept-encoding",
            "x-frame-options", "DENY");

    private final Lock lock = new ReentrantLock();
    private volatile @Nullable Contents contents;

    /**
     * The replies for all files.
     *
     * @param version start of the digest of all files
     */
    private record Contents(Map<String, Replies> files, String version) {}

    /**
     * The replies for one file. Immutable; many connections may send them at the same time.
     *
     * @param unchanged the reply to a client that has this version
     */
    private record Replies(AdminReply plain, AdminReply compressed, AdminReply unchanged) {}

    /** Returns whether the files are in memory. Until then each other method blocks for some milliseconds. */
    boolean isLoaded() {
        return contents != null;
    }

    private Contents contents() {
        Contents loaded = contents;
        if (loaded != null) {
            return loaded;
        }
        lock.lock();
        try {
            Contents read = contents == null ? read() : contents;
            contents = read;
            return read;
        } finally {
            lock.unlock();
        }
    }

    /** Reads and compresses the files that the resource {@code files.txt} lists. */
    private static Contents read() {
        Map<String, byte[]> files = new LinkedHashMap<>();
        StringBuilder digests = new StringBuilder();
        for (String name : new String(content("files.txt"), StandardCharsets.UTF_8).split("\n", -1)) {
            if (!name.isEmpty()) {
                byte[] content = content(name);
                files.put(name, content);
                digests.append(name).append(Secret.digest(content));
            }
        }
        String version = Secret.digest(digests.toString()).substring(0, VERSION_LENGTH);
        String page = new String(content(INDEX), StandardCharsets.UTF_8).replace(DIRECTORY_MARK, "f/" + version + "/");
        files.put(INDEX, page.getBytes(StandardCharsets.UTF_8));
        Map<String, Replies> replies = new HashMap<>();
        files.forEach((name, content) -> replies.put(name, replies(name, content, version)));
        return new Contents(Map.copyOf(replies), version);
    }

    private static Replies replies(String name, byte[] content, String version) {
        Map<String, String> fields = new HashMap<>(FIELDS);
        String control = name.equals(INDEX) ? "no-cache" : CACHED_FOR_A_YEAR;
        fields.put("cache-control", control);
        fields.put("etag", tag(version, false));
        AdminReply unchanged = new AdminReply(304, type(name), new byte[0])
                .with(Map.of("etag", tag(version, false), "cache-control", control, "vary", "accept-encoding"));
        AdminReply plain = new AdminReply(200, type(name), content).with(fields);
        fields.put("etag", tag(version, true));
        fields.put("content-encoding", "gzip");
        return new Replies(plain, new AdminReply(200, type(name), gzip(content)).with(fields), unchanged);
    }

    /**
     * The entity tag of a file. Compressed content has another tag, because equal strong tags mean equal bytes (RFC
     * 9110 s8.8.3.3).
     */
    private static String tag(String version, boolean isCompressed) {
        return '"' + version + (isCompressed ? "-gzip" : "") + '"';
    }

    private static byte[] content(String name) {
        try (InputStream in = DashboardFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the dashboard has no file " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The digest in the paths of the files. */
    String version() {
        return contents().version();
    }

    /** Returns the start page, or a 304 if the client has this version. */
    AdminReply page(RequestSender client) {
        return reply(contents(), INDEX, client);
    }

    /** Returns a file, or a 304 if the client has it. Returns null if this version has no file with this name. */
    @Nullable
    AdminReply file(String version, String name, RequestSender client) {
        Contents loaded = contents();
        return version.equals(loaded.version())
                        && !name.equals(INDEX)
                        && loaded.files().containsKey(name)
                ? reply(loaded, name, client)
                : null;
    }

    private static AdminReply reply(Contents contents, String name, RequestSender client) {
        Replies replies = Objects.requireNonNull(contents.files().get(name));
        if (hasVersion(client.field("if-none-match"), contents.version())) {
            return replies.unchanged();
        }
        return acceptsGzip(client.field("accept-encoding")) ? replies.compressed() : replies.plain();
    }

    /**
     * Returns true if a list of entity tags contains a tag of this version. The comparison is weak (RFC 9110 s13.1.2).
     */
    private static boolean hasVersion(@Nullable String tags, String version) {
        if (tags == null) {
            return false;
        }
        for (String each : tags.split(",", -1)) {
            String tag = each.strip();
            String opaque = tag.startsWith("W/") ? tag.substring(2) : tag;
            if (opaque.equals(tag(version, false)) || opaque.equals(tag(version, true))) {
                return true;
            }
        }
        return false;
    }

    private static String type(String name) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (type == null) {
            throw new IllegalArgumentException("no media type for " + name);
        }
        return type;
    }

    private static byte[] gzip(byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(content.length);
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** Returns whether a value of Accept-Encoding contains gzip with a weight above 0. */
    private static boolean acceptsGzip(@Nullable String accepted) {
        if (accepted == null) {
            return false;
        }
        for (String coding : accepted.toLowerCase(Locale.ROOT).split(",", -1)) {
            String[] parts = coding.split(";", -1);
            if (parts[0].strip().equals("gzip")) {
                return parts.length < 2 || !parts[1].strip().matches("q=0(\\.0*)?");
            }
        }
        return false;
    }
}
