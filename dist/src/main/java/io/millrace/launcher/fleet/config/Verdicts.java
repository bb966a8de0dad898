package io.millrace.launcher.fleet.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts of canary nodes about a revision, each an entry of the store: {@code passed}, or {@code failed} and the
 * reason. Methods block. Thread-safe.
 */
final class Verdicts {
    /** Prefix of the keys, before revision and node. */
    static final String KEY = "verdict.";

    private static final String PASSED = "passed";
    private static final String FAILED = "failed ";

    private final ConfigStore store;

    Verdicts(ConfigStore store) {
        this.store = store;
    }

    /**
     * Stores the verdict of a node.
     *
     * @param failure the reason; null if the node's figures passed
     */
    void put(long revision, String node, @Nullable String failure) throws IOException {
        String text = failure == null ? PASSED : FAILED + failure;
        store.put(key(revision, node), text.getBytes(StandardCharsets.UTF_8));
    }

    private static String key(long revision, String node) {
        return KEY + revision + "." + node;
    }

    /**
     * The verdicts so far.
     *
     * @param failure the first failed node with its reason; null for none
     * @param missing nodes without a verdict
     */
    record Count(@Nullable String failure, List<String> missing) {}

    /** Reads the verdicts of all canary nodes of a revision. */
    Count count(RevisionStatement statement) throws IOException {
        List<String> missing = new ArrayList<>();
        for (String node : statement.canary()) {
            ConfigStore.Entry entry = store.get(key(statement.revision(), node));
            String text = entry == null ? "" : new String(entry.value(), StandardCharsets.UTF_8);
            if (text.startsWith(FAILED)) {
                return new Count(node + ": " + text.substring(FAILED.length()), List.of());
            }
            if (!text.equals(PASSED)) {
                missing.add(node);
            }
        }
        return new Count(null, missing);
    }
}
