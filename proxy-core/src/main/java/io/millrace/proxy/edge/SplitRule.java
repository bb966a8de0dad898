package io.millrace.proxy.edge;

import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.origin.KeyHash;
import io.millrace.proxy.rules.CookieValues;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The choice of a branch of a canary split. It depends only on the request and the split. So all nodes, event loops and
 * rules with equal splits choose the same branch for a client, also after a restart. If a weight grows, the clients of
 * the first branch stay in the first branch. Immutable.
 */
public final class SplitRule {
    /** The result for the rule's own origin. */
    public static final int OWN = -1;

    private final SplitConfig config;

    SplitRule(SplitConfig config) {
        this.config = config;
    }

    /** The branches, in order. */
    public List<SplitConfig.Branch> branches() {
        return config.branches();
    }

    /**
     * Returns the index of the branch for a request, or {@link #OWN}.
     *
     * @param client address of the client; null if unknown
     */
    public int choose(FieldSection request, @Nullable IpAddress client) {
        List<SplitConfig.Branch> branches = config.branches();
        if (request.contains(FieldName.COOKIE)) {
            for (int i = 0; i < branches.size(); i++) {
                if (hasCookie(request, branches.get(i))) {
                    return i;
                }
            }
        }
        long hash = hash(request, client);
        if (hash < 0) {
            return OWN;
        }
        int share = (int) (hash % SplitConfig.WHOLE);
        for (int i = 0; i < branches.size(); i++) {
            share -= branches.get(i).weight();
            if (share < 0) {
                return i;
            }
        }
        return OWN;
    }

    private static boolean hasCookie(FieldSection request, SplitConfig.Branch branch) {
        if (branch.cookie() == null) {
            return false;
        }
        List<String> values = CookieValues.of(request, branch.cookie());
        return branch.cookieValue() == null ? !values.isEmpty() : values.contains(branch.cookieValue());
    }

    /** Returns a hash of the value that identifies the client; negative if there is no such value. */
    private long hash(FieldSection request, @Nullable IpAddress client) {
        if (config.cookie() != null && request.contains(FieldName.COOKIE)) {
            List<String> values = CookieValues.of(request, config.cookie());
            if (!values.isEmpty()) {
                return hash(values.get(0).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        if (client == null) {
            return -1;
        }
        // Clients with IPv6 change the last 64 bits of their address by themselves (RFC 8981).
        return client.isV4()
                ? hash(client.bytes())
                : hash(ByteBuffer.allocate(Long.BYTES).putLong(client.high()).array());
    }

    private static long hash(byte[] bytes) {
        return KeyHash.of(bytes, 0, bytes.length) & Long.MAX_VALUE;
    }
}
