package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.config.problem.ConfigDocument;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The revisions in the store: their statements, and their contents by hash. A content is compressed and divided into
 * parts, because NATS servers accept messages of at most 1 MiB by default. Methods block. Thread-safe.
 */
final class RevisionStore {
    /** Number of revisions that are kept for rollbacks. */
    static final int KEPT = 20;

    /** Length of a part, in bytes. */
    static final int PART_BYTES = 512 << 10;

    private static final int PARTS_MAX = 64;
    /** Prefixes of the keys of revisions and of contents. */
    private static final String REVISION = "revision.";

    private static final String CONTENT = "content.";

    private final ConfigStore store;

    /**
     * A revision in the history.
     *
     * @param length length of the content, in bytes
     * @param failure why the canary of this revision failed; empty if it has not failed
     */
    record Kept(SignedRevision signed, long length, String failure) {}

    RevisionStore(ConfigStore store) {
        this.store = store;
    }

    /** Returns the SHA-256 hash of a text in hexadecimal digits. */
    static String hash(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Compresses a text. */
    static byte[] compressed(byte[] text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length / 4 + 64);
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return out.toByteArray();
    }

    /** Expands a compressed text, and compares it with its hash. */
    static byte[] expanded(byte[] compressed, String hash) throws RefusedRevisionException {
        byte[] text;
        try (GZIPInputStream zip = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
            text = zip.readNBytes(ConfigDocument.LENGTH_MAX + 1);
        } catch (IOException e) {
            throw new RefusedRevisionException(Reason.CONTENT, "the content cannot be expanded: " + e.getMessage());
        }
        if (text.length > ConfigDocument.LENGTH_MAX) {
            throw new RefusedRevisionException(
                    Reason.CONTENT, "the content is longer than the limit of " + ConfigDocument.LENGTH_MAX + " bytes");
        }
        if (!hash(text).equals(hash)) {
            throw new RefusedRevisionException(Reason.CONTENT, "the content differs from the signed hash " + hash);
        }
        return text;
    }

    /**
     * Stores a content, if it is not stored. Compresses it here, so that the stored bytes do not depend on the client.
     *
     * @param text the content with this hash
     */
    void writeContent(String hash, byte[] text) throws IOException {
        if (store.get(CONTENT + hash) != null) {
            return;
        }
        byte[] compressed = compressed(text);
        int parts = (compressed.length + PART_BYTES - 1) / PART_BYTES;
        for (int i = 0; i < parts; i++) {
            int end = Math.min(compressed.length, (i + 1) * PART_BYTES);
            store.put(CONTENT + hash + "." + i, Arrays.copyOfRange(compressed, i * PART_BYTES, end));
        }
        store.put(CONTENT + hash, Integer.toString(parts).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns a content. */
    String content(String hash) throws IOException, RefusedRevisionException {
        ConfigStore.Entry entry = store.get(CONTENT + hash);
        int parts = entry == null ? 0 : parts(entry.value());
        if (parts < 1 || parts > PARTS_MAX) {
            throw new RefusedRevisionException(Reason.CONTENT, "the servers do not have the content " + hash);
        }
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        for (int i = 0; i < parts; i++) {
            ConfigStore.Entry part = store.get(CONTENT + hash + "." + i);
            if (part == null) {
                throw new RefusedRevisionException(
                        Reason.CONTENT, "the servers do not have part " + i + " of the content " + hash);
            }
            compressed.writeBytes(part.value());
        }
        return new String(expanded(compressed.toByteArray(), hash), StandardCharsets.UTF_8);
    }

    private static int parts(byte[] value) {
        try {
            return Integer.parseInt(new String(value, StandardCharsets.US_ASCII));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** Adds a revision to the history, or replaces it. */
    void record(Kept kept) throws IOException {
        byte[] value = AdminReply.json(json -> {
                    json.writeStringProperty(
                            "statement", kept.signed().statement().text());
                    json.writeStringProperty("signature", kept.signed().signature());
                    json.writeNumberProperty("length", kept.length());
                    json.writeStringProperty("failure", kept.failure());
                })
                .body();
        store.put(REVISION + kept.signed().revision(), value);
    }

    /** Returns the kept revisions by number. Leaves out damaged entries. */
    NavigableMap<Long, Kept> history() throws IOException {
        NavigableMap<Long, Kept> found = new TreeMap<>();
        for (String key : store.keys()) {
            Kept kept = key.startsWith(REVISION) ? read(key) : null;
            if (kept != null) {
                found.put(kept.signed().revision(), kept);
            }
        }
        return found;
    }

    /** Returns a revision; null if it is not kept. */
    @Nullable
    Kept find(long revision) throws IOException {
        return read(REVISION + revision);
    }

    private @Nullable Kept read(String key) throws IOException {
        ConfigStore.Entry entry = store.get(key);
        if (entry == null) {
            return null;
        }
        try {
            Map<String, Object> members = Json.members(entry.value());
            Long length = Json.member(members, "length", Long.class);
            SignedRevision signed = SignedRevision.parse(
                    String.valueOf(members.get("statement")), String.valueOf(members.get("signature")));
            boolean isAtItsKey = key.equals(REVISION + signed.revision());
            return isAtItsKey
                    ? new Kept(signed, length == null ? 0 : length, String.valueOf(members.getOrDefault("failure", "")))
                    : null;
        } catch (AdminException | RefusedRevisionException e) {
            return null;
        }
    }

    /**
     * Deletes old revisions, and their contents unless a kept revision or the head names them. A content that no
     * deleted revision names stays, because it may belong to a push in progress.
     */
    void prune(ConfigHead head) throws IOException {
        NavigableMap<Long, Kept> history = history();
        Set<String> oldContents = new HashSet<>();
        while (history.size() > KEPT) {
            Kept first = history.pollFirstEntry().getValue();
            store.delete(REVISION + first.signed().revision());
            oldContents.add(first.signed().statement().content());
        }
        history.values()
                .forEach(kept -> oldContents.remove(kept.signed().statement().content()));
        head.revisions().forEach(signed -> oldContents.remove(signed.statement().content()));
        // The entry of a content is deleted before its parts, so that a push does not take it for complete.
        for (String key : new TreeSet<>(store.keys())) {
            if (key.startsWith(CONTENT) && oldContents.contains(hashOf(key))) {
                store.delete(key);
            } else if (key.startsWith(Verdicts.KEY)
                    && !key.startsWith(Verdicts.KEY + head.current().revision() + ".")) {
                store.delete(key);
            }
        }
    }

    private static String hashOf(String key) {
        String hash = key.substring(CONTENT.length());
        int dot = hash.indexOf('.');
        return dot < 0 ? hash : hash.substring(0, dot);
    }
}
