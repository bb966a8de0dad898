package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.rewrite.HeaderRewriteImport;
import io.millrace.launcher.ats.settings.StorageImport;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The collection of the rules of remap.config or remap.yaml, and their writer. Confined to one thread. */
public final class RemapRules {
    private static final Set<String> VERBS = Set.of(
            "map",
            "map_with_recv_port",
            "map_with_referer",
            "reverse_map",
            "redirect",
            "redirect_temporary",
            "regex_map",
            "regex_map_with_recv_port",
            "regex_redirect",
            "regex_redirect_temporary");

    /** The URL pattern of a rule with a regular expression: scheme, host, port and path. */
    private static final Pattern REGEX = Pattern.compile("([^:/]+://)([^/]*?)((?::\\d+)?)((?:/.*)?)");

    private final ImportState state;
    private final RemapFilters filters;
    private final RemapArguments arguments;
    private final HeaderRewriteImport rewrites;
    private final CompressImport compression;
    private final List<RemapRule> rules = new ArrayList<>();

    /** Creates an empty collection of the rules of {@code state}. */
    public RemapRules(ImportState state, IpAllowFilters ipAllow, StorageImport storage) {
        this.state = state;
        rewrites = new HeaderRewriteImport(state);
        compression = new CompressImport(state);
        filters = new RemapFilters(state, ipAllow);
        arguments = new RemapArguments(state, storage, !state.has("records.yaml"));
    }

    /** The filters of the rules. */
    public RemapFilters filters() {
        return filters;
    }

    RemapArguments arguments() {
        return arguments;
    }

    /** Returns every rule that was written. */
    public List<RemapRule> all() {
        return List.copyOf(rules);
    }

    /** Returns the rules that map to an origin. */
    public List<RemapRule> forwarding() {
        return rules.stream().filter(RemapRule::isMapping).toList();
    }

    /**
     * Begins a rule.
     *
     * @return null if the rule cannot be imported; the reason was reported
     */
    @Nullable
    RemapRule begin(Entry entry, String kind, String from, String to) {
        String verb = kind.toLowerCase(Locale.ROOT);
        if (!VERBS.contains(verb)) {
            state.problem(entry, "'" + kind + "' is not a kind of rule");
            return null;
        }
        filters.begin(entry);
        // Traffic Server has internal pages with URLs such as http://{cache}.
        if (to.startsWith("http://{") || (from.contains("{") && !verb.startsWith("regex"))) {
            entry.notMapped(
                    "Millrace has no such pages; millctl cache list, millctl status and millctl metric get show the same data");
            if (from.contains("{")) {
                return null;
            }
            // The rule is replaced by one that denies its requests. Without a rule, they would match a wider rule.
            RemapRule denyRule = new RemapRule(entry, verb, from, DraftNode.DENIED_TARGET);
            denyRule.markDenied();
            return denyRule;
        }
        if (from.startsWith("tunnel:")) {
            entry.notMapped("connections are not forwarded by SNI without TLS termination");
            return null;
        }
        if (verb.equals("map_with_referer") && !isRefererChecked()) {
            entry.note("proxy.config.http.referer_filter is off, so every Referer passes");
            return new RemapRule(entry, "map", from, to);
        }
        return new RemapRule(entry, verb, from, to);
    }

    /** Returns true if the referer filter is on. If it is off, map_with_referer is the same as map. */
    boolean isRefererChecked() {
        return state.records().isOn("http.referer_filter", false);
    }

    /**
     * Sets the permitted values of Referer for a rule.
     *
     * @param redirect URL to which other requests are redirected
     * @param expressions regular expressions of the permitted values
     */
    void setReferers(RemapRule rule, String redirect, List<String> expressions) {
        boolean isDefault = Set.of("default", "<default>", "default_redirect_url", "<default_redirect_url>")
                .contains(redirect.toLowerCase(Locale.ROOT));
        rule.setReferers(
                isDefault
                        ? state.records().value("http.referer_default_redirect", "http://www.example.com/")
                        : redirect,
                expressions);
    }

    private void writeRewrites(RemapRule rule, DraftNode node) {
        for (String file : rule.rewrites()) {
            if (rule.isMapping()) {
                rewrites.write(node, file, rule.entry(), false);
            } else {
                rule.entry().notMapped("header_rewrite.so: " + rule.verb() + " sends no requests to an origin");
            }
        }
    }

    private void writeCompression(RemapRule rule, DraftNode node) {
        String file = rule.compressFile();
        if (file != null && rule.isMapping()) {
            compression.write(rule, node, file);
        } else if (file != null) {
            rule.entry().notMapped("compress.so: " + rule.verb() + " sends no requests to an origin");
        }
    }

    /** The importer of the plugin compress. */
    CompressImport compression() {
        return compression;
    }

    /** The importer of files of header_rewrite. */
    HeaderRewriteImport rewrites() {
        return rewrites;
    }

    /** Writes a rule with its own filters and the named filters that are active at its position. */
    void write(RemapRule rule) {
        DraftNode node = state.draft().addElement("remap", rule.entry());
        node.put(rule.verb(), rule.verb().startsWith("regex") ? regex(rule) : rule.from());
        node.put("to", rule.to());
        if (!rule.referers().isEmpty()) {
            node.putWords("referers", rule.referers());
            node.put("referer_redirect", rule.refererRedirect());
        }
        rule.settings().forEach((key, value) -> {
            if (value.startsWith("[")) {
                node.putWords(key, RecordTable.split(value.substring(1, value.length() - 1)))
                        .removableIfInvalid();
            } else {
                node.put(key, value).removableIfInvalid();
            }
        });
        if (rule.verb().equals("redirect_temporary") && state.draft().root().moveBefore("remap", node, "redirect")) {
            rule.entry()
                    .note("the rule is placed before the permanent redirections, because Traffic Server checks it"
                            + " first");
        }
        writeRewrites(rule, node);
        writeCompression(rule, node);
        filters.write(rule, node);
        rule.setNode(node);
        rules.add(rule);
    }

    /**
     * Extends the expressions of those rules that have filters, so that they match as many hosts as in Traffic Server.
     * Otherwise some hosts would match a wider rule without filters. Adds notes to files that no rule uses.
     */
    public void finish() {
        compression.finish();
        for (RemapRule rule : rules) {
            DraftNode node = rule.node();
            if (node != null
                    && rule.verb().startsWith("regex")
                    && !node.elements("filters").isEmpty()) {
                node.put(rule.verb(), regex(rule, true));
            }
        }
    }

    private static String regex(RemapRule rule) {
        return regex(rule, false);
    }

    /**
     * Converts the regular expression of a rule. An expression must match the whole host in Millrace, so anchors are
     * removed.
     *
     * @param anywhere whether the result also matches hosts that only contain a match, as in Traffic Server
     */
    private static String regex(RemapRule rule, boolean anywhere) {
        Matcher parts = REGEX.matcher(rule.from());
        if (!parts.matches()) {
            return rule.from();
        }
        String host = parts.group(2);
        boolean hasStartAnchor = host.startsWith("^");
        boolean hasEndAnchor = host.endsWith("$") && !host.endsWith("\\$");
        String bare = host.substring(hasStartAnchor ? 1 : 0, host.length() - (hasEndAnchor ? 1 : 0));
        String whole = bare;
        if (anywhere && (!hasStartAnchor || !hasEndAnchor || bare.contains("|"))) {
            whole = ".*?(?:" + host + ").*";
        } else if (!hasStartAnchor && !hasEndAnchor) {
            rule.entry()
                    .note(
                            "the expression must match the whole host; in Traffic Server, and in imported rules with filters, it matches anywhere in the host");
        }
        String path = parts.group(4);
        return parts.group(1) + whole + parts.group(3) + (path.isEmpty() ? "/" : path);
    }
}
