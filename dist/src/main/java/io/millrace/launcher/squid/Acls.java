package io.millrace.launcher.squid;

import io.millrace.launcher.importing.source.Addresses;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The access control lists (ACLs) of squid.conf by name. Confined to one thread. */
final class Acls {
    /** An access control list: its type, its values, and the lines that define it. */
    static final class Acl {
        private final String type;
        private final List<String> values = new ArrayList<>();
        private final List<SquidLine> lines = new ArrayList<>();
        private boolean complete = true;

        Acl(String type) {
            this.type = type;
        }

        String type() {
            return type;
        }

        List<String> values() {
            return values;
        }

        /** Returns false if a value has no equivalent. Then this list contains fewer values than Squid's. */
        boolean isComplete() {
            return complete;
        }

        /** Marks the lines that define the list as mapped to a key. */
        void recordKey(String key) {
            lines.forEach(each -> each.markHandled().recordKey(key));
        }

        void note(String note) {
            lines.forEach(each -> each.note(note));
        }
    }

    /** Types of lists whose values are expressions. */
    private static final Set<String> EXPRESSIONS =
            Set.of("url_regex", "urlpath_regex", "dstdom_regex", "browser", "referer_regex");

    private final Map<String, Acl> all = new LinkedHashMap<>();
    /** True if lists of type src compare the client in X-Forwarded-For; rules compare the connection's address. */
    private final boolean forwarded;

    Acls(SquidReader reader) {
        forwarded = reader.lines().stream()
                        .anyMatch(each -> each.name().equals("follow_x_forwarded_for")
                                && each.arg(0).equals("allow"))
                && reader.lines().stream()
                        .noneMatch(each -> each.name().equals("acl_uses_indirect_client") && !each.isOn());
        builtIn("all", "src", "all");
        builtIn("localhost", "src", "127.0.0.1/32", "::1");
        builtIn("to_localhost", "dst", "127.0.0.0/8", "0.0.0.0/32", "::1");
        builtIn("to_linklocal", "dst", "169.254.0.0/16", "fe80::/10");
        builtIn("manager", "manager");
        builtIn("CONNECT", "method", "CONNECT");
        for (SquidLine line : reader.lines()) {
            if (line.name().equals("acl") && line.args().size() > 1) {
                define(reader, line);
            }
        }
    }

    private void builtIn(String name, String type, String... values) {
        Acl acl = new Acl(type);
        acl.values.addAll(List.of(values));
        all.put(name, acl);
    }

    private void define(SquidReader reader, SquidLine line) {
        String name = line.arg(0);
        Acl earlierAcl = all.get(name);
        // A line replaces a built-in list with the same name, but extends a list of an earlier line.
        Acl acl = earlierAcl == null || earlierAcl.lines.isEmpty() ? new Acl(line.arg(1)) : earlierAcl;
        all.put(name, acl);
        acl.lines.add(line);
        boolean ignoreCase = false;
        for (String value : reader.values(line, line.argsFrom(2))) {
            switch (value) {
                case "-i" -> ignoreCase = true;
                case "+i" -> ignoreCase = false;
                case "--", "-n" -> {}
                default -> add(acl, line, value, ignoreCase);
            }
        }
    }

    /** Adds a value. An expression is converted to RE2 syntax. */
    private static void add(Acl acl, SquidLine line, String value, boolean ignoreCase) {
        String text = EXPRESSIONS.contains(acl.type) ? PosixExpression.toRe2(value, ignoreCase) : value;
        if (text != null) {
            acl.values.add(text);
            return;
        }
        acl.complete = false;
        line.notMapped("'" + value + "': " + PosixExpression.NO_EQUIVALENT);
    }

    /**
     * Returns the addresses of a list of type src for conditions, which compare the address of the connection. Returns
     * null if the list compares the client in X-Forwarded-For, or if {@link #addresses} returns null.
     */
    @Nullable
    List<String> connectionAddresses(Acl acl) {
        List<String> addresses = addresses(acl);
        return addresses == null || (forwarded && !addresses.contains("all")) ? null : addresses;
    }

    @Nullable
    Acl find(String name) {
        return all.get(name.startsWith("!") ? name.substring(1) : name);
    }

    /** Returns the addresses of a list. Returns null if it is not of type src or dst, or contains host names. */
    @Nullable
    static List<String> addresses(Acl acl) {
        if (!acl.type.equals("src") && !acl.type.equals("dst")) {
            return null;
        }
        List<String> words = new ArrayList<>();
        for (String value : acl.values) {
            String text = value.equals("0.0.0.0/0.0.0.0") || value.equals("all") ? "all" : masked(value);
            words.add(text.equals("all") ? "all" : Addresses.of(text));
        }
        return words.isEmpty() || Addresses.problem(words) != null ? null : words;
    }

    /** Converts the mask of an address, such as {@code /255.255.255.0}, to a prefix length. */
    private static String masked(String value) {
        int slash = value.indexOf('/');
        String mask = value.substring(slash + 1);
        if (slash < 0 || !mask.matches("(\\d{1,3}\\.){3}\\d{1,3}")) {
            return value;
        }
        int bits = 0;
        for (String part : mask.split("\\.", -1)) {
            bits += Integer.bitCount(Integer.parseInt(part) & 0xff);
        }
        return value.substring(0, slash) + "/" + bits;
    }
}
