package io.millrace.proxy.remap;

import io.millrace.proxy.http.UriBytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A radix tree of path prefixes, for rules with the same scheme, host and port. Compares normalized bytes. A
 * lookup reads the path once, independent of the number of rules. Immutable once built. An asterisk with a number
 * marks the end of a rule's path:
 *
 * <pre>
 * rules /js/ (0), /js/lib/ (1), / (2)      "/"*2 -- "js/"*0 -- "lib/"*1
 * </pre>
 */
final class PathTrie {
    private static final class Node {
        /** Bytes on the edge to this node, including the first one; empty only for the root. */
        private byte[] label;

        private final List<Node> children = new ArrayList<>(1);

        /** The first rule of the configuration whose path ends here. */
        private @Nullable RemapRule rule;

        Node(byte[] label) {
            this.label = label;
        }

        @Nullable
        Node child(int first) {
            int low = 0;
            int high = children.size() - 1;
            while (low <= high) {
                int middle = (low + high) >>> 1;
                Node child = children.get(middle);
                if (child.label[0] == first) {
                    return child;
                }
                if (child.label[0] < first) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            return null;
        }

        void addChild(Node child) {
            int at = 0;
            while (at < children.size() && children.get(at).label[0] < child.label[0]) {
                at++;
            }
            children.add(at, child);
        }

        /**
         * Splits the label of this node after {@code length} bytes. A new node gets the remaining bytes, and becomes
         * the only child of this node.
         */
        void split(int length) {
            Node rest = new Node(Arrays.copyOfRange(label, length, label.length));
            rest.rule = rule;
            rest.children.addAll(children);
            label = Arrays.copyOf(label, length);
            rule = null;
            children.clear();
            children.add(rest);
        }
    }

    private final Node root = new Node(new byte[0]);

    /** Adds a rule. Call in the order of the configuration, and only while the table is being built. */
    void add(byte[] path, RemapRule rule) {
        Node node = root;
        int i = 0;
        while (i < path.length) {
            Node child = node.child(path[i]);
            if (child == null) {
                child = new Node(Arrays.copyOfRange(path, i, path.length));
                node.addChild(child);
            }
            int common = Arrays.mismatch(
                    child.label, 0, child.label.length, path, i, Math.min(path.length, i + child.label.length));
            if (common >= 0 && common < child.label.length) {
                child.split(common);
            }
            i += child.label.length;
            node = child;
        }
        if (node.rule == null) {
            node.rule = rule;
        }
    }

    /** Returns the first rule of the configuration whose path is a prefix of the range; null if there is none. */
    @Nullable
    RemapRule find(byte[] bytes, int from, int to) {
        Node node = root;
        RemapRule best = null;
        int at = 0;
        int hexDigitsLeft = 0;
        int i = from;
        boolean encoded = UriBytes.hasEncodingsToNormalize(bytes, from, to);
        while (true) {
            if (at == node.label.length && node.rule != null && (best == null || node.rule.index() < best.index())) {
                best = node.rule;
            }
            if (i >= to) {
                return best;
            }
            int b = bytes[i++];
            if (hexDigitsLeft > 0) {
                hexDigitsLeft--;
                b = PathBytes.upperCaseHex((byte) b);
            } else if (encoded && b == '%') {
                int decoded = PathBytes.unreservedAt(bytes, i - 1);
                if (decoded >= 0) {
                    b = decoded;
                    i += 2;
                } else {
                    hexDigitsLeft = 2;
                }
            }
            if (at < node.label.length) {
                if (node.label[at++] != b) {
                    return best;
                }
            } else {
                node = node.child(b);
                if (node == null) {
                    return best;
                }
                at = 1;
            }
        }
    }
}
