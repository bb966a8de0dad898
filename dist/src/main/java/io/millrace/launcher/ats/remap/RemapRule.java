package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.launcher.ats.source.Entry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One rule of remap.config while it is read. Confined to one thread. */
public final class RemapRule {
    private final Entry entry;
    private final String verb;
    private final String from;
    private final String to;
    private final Map<String, String> settings = new LinkedHashMap<>();
    private List<String> referers = List.of();
    private String refused = "";
    private String strategy = "";
    private boolean guarded;
    private @Nullable DraftNode node;

    RemapRule(Entry entry, String verb, String from, String to) {
        this.entry = entry;
        this.verb = verb;
        this.from = from;
        this.to = to;
    }

    /** The line of the rule. */
    public Entry entry() {
        return entry;
    }

    /** Its verb as Traffic Server spells it. */
    public String verb() {
        return verb;
    }

    /** The URL of clients. */
    public String from() {
        return from;
    }

    String to() {
        return to;
    }

    void refuse(String redirect, List<String> expressions) {
        refused = redirect;
        referers = List.copyOf(expressions);
    }

    List<String> referers() {
        return referers;
    }

    String refused() {
        return refused;
    }

    /** Says that a plugin keeps clients out of it, which nobody does here. */
    void guard() {
        guarded = true;
    }

    /** Puts a filter in front that denies everybody. */
    void close(Entry why) {
        if (node != null && !verb.equals("reverse_map")) {
            node.first("filters").from(why).put("action", "deny");
        }
    }

    /** The strategy that it names; empty for none. */
    public String strategy() {
        return strategy;
    }

    /** Sets the name of its strategy. */
    public void strategy(String name) {
        strategy = name;
    }

    /** Settings of its own, by their keys; a list stands in brackets. */
    Map<String, String> settings() {
        return settings;
    }

    void at(DraftNode written) {
        node = written;
        if (guarded) {
            close(entry);
        }
    }

    /** The rule as it is written. */
    @Nullable
    public DraftNode node() {
        return node;
    }

    /** Scheme and host that requests go to, without the port. */
    String toScheme() {
        return to.contains("://") ? to.substring(0, to.indexOf("://")).toLowerCase(Locale.ROOT) : "http";
    }

    /** Whether its origin is asked over TLS. */
    public boolean isToSecure() {
        return toScheme().equals("https") || toScheme().equals("wss");
    }

    /** Host of the URL that it leads to, in lower case. */
    public String toHost() {
        return host(to).toLowerCase(Locale.ROOT);
    }

    /** The port that requests go to, given or the scheme's. */
    public String toPort() {
        String authority = to.replaceFirst("^[^:/]+://", "").replaceFirst("/.*", "");
        String port = authority.substring(host(to).length()).replace(":", "");
        return port.isEmpty() ? isToSecure() ? "443" : "80" : port;
    }

    /** Path of the URL that it leads to. */
    public String toPath() {
        return path(to);
    }

    /** How the paths of requests begin. */
    public String fromPath() {
        return path(from);
    }

    private static String path(String url) {
        String rest = url.contains("://") ? url.substring(url.indexOf("://") + 3) : url;
        int slash = rest.indexOf('/');
        return slash < 0 ? "/" : rest.substring(slash).replaceFirst("[?].*", "");
    }

    /** Whether its verb takes a regular expression. */
    public boolean isExpression() {
        return verb.startsWith("regex");
    }

    /** The host that requests name, or the expression for it; empty where the rule is for all. */
    public String fromHost() {
        return isExpression() ? host(from) : host(from).toLowerCase(Locale.ROOT);
    }

    private static String host(String url) {
        String rest = url.contains("://") ? url.substring(url.indexOf("://") + 3) : url;
        int slash = rest.indexOf('/');
        String authority = slash < 0 ? rest : rest.substring(0, slash);
        int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
        boolean port = colon >= 0 && authority.substring(colon + 1).matches("\\d*");
        return port ? authority.substring(0, colon) : authority;
    }
}
