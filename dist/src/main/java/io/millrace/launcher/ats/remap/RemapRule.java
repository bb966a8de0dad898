package io.millrace.launcher.ats.remap;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A rule of remap.config or remap.yaml during the import. Confined to one thread. */
public final class RemapRule {
    private final List<String> rewrites = new ArrayList<>();
    private final Entry entry;
    private final String verb;
    private final String from;
    private final String to;
    private final Map<String, String> settings = new LinkedHashMap<>();
    private List<String> referers = List.of();
    private String refererRedirect = "";
    private String strategy = "";
    /**
     * Configuration file of the {@code compress} plugin. Empty if the plugin has no file; null if the rule has no such
     * plugin.
     */
    private @Nullable String compressFile;
    /** Number of calls of {@link #markDenied} that were not cancelled. */
    private int denials;

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

    /** The kind of the rule, as in Traffic Server. */
    public String verb() {
        return verb;
    }

    /** The URL pattern that the URL of a request must match. */
    public String from() {
        return from;
    }

    String to() {
        return to;
    }

    /** Sets the permitted values of Referer, and the URL to which other requests are redirected. */
    void setReferers(String redirect, List<String> expressions) {
        refererRedirect = redirect;
        referers = List.copyOf(expressions);
    }

    List<String> referers() {
        return referers;
    }

    String refererRedirect() {
        return refererRedirect;
    }

    /**
     * Makes {@link #setNode} deny all requests of the rule, for example because a plugin denies clients and Millrace
     * has no equivalent. Has no effect after {@link #setNode}.
     */
    void markDenied() {
        denials++;
    }

    /** Cancels one {@link #markDenied}, for example after the plugin was imported. Call before {@link #setNode}. */
    void unmarkDenied() {
        denials--;
    }

    /**
     * Inserts a first filter that denies all clients. Has no effect before {@link #setNode}, and for {@code
     * reverse_map}, which handles no requests.
     */
    void denyAll(Entry why) {
        if (node != null && !verb.equals("reverse_map")) {
            node.addFirst("filters").from(why).put("action", "deny");
        }
    }

    /** The name of the rule's strategy; empty for none. */
    public String strategy() {
        return strategy;
    }

    /** Sets the name of the rule's strategy. */
    public void strategy(String name) {
        strategy = name;
    }

    /**
     * The configuration file of the {@code compress} plugin. Empty if the plugin has no file; null if the rule has no
     * such plugin.
     */
    @Nullable
    String compressFile() {
        return compressFile;
    }

    /** Sets the configuration file of the {@code compress} plugin; empty for none. */
    void compressFile(String file) {
        compressFile = file;
    }

    /** Returns true if the rule maps requests to an origin. */
    boolean isMapping() {
        return verb.contains("map") && !verb.equals("reverse_map");
    }

    /** The settings of this rule by key. The value of a list is in square brackets. */
    Map<String, String> settings() {
        return settings;
    }

    /**
     * Sets the node of the rule in the resulting configuration. If the rule is marked as denied, denies all clients,
     * except for {@code reverse_map}.
     */
    void setNode(DraftNode written) {
        node = written;
        if (denials > 0) {
            denyAll(entry);
        }
    }

    /** The node of the rule in the resulting configuration; null before it is written. */
    @Nullable
    public DraftNode node() {
        return node;
    }

    /** Scheme of the target URL, in lower case. */
    String toScheme() {
        return to.contains("://") ? to.substring(0, to.indexOf("://")).toLowerCase(Locale.ROOT) : "http";
    }

    /** Returns true if the origin is reached over TLS. */
    public boolean isToSecure() {
        return toScheme().equals("https") || toScheme().equals("wss");
    }

    /** Host of the target URL, in lower case. */
    public String toHost() {
        return host(to).toLowerCase(Locale.ROOT);
    }

    /** Port of the target URL, explicit or the default of the scheme. */
    public String toPort() {
        String authority = to.replaceFirst("^[^:/]+://", "").replaceFirst("/.*", "");
        String port = authority.substring(host(to).length()).replace(":", "");
        return port.isEmpty() ? isToSecure() ? "443" : "80" : port;
    }

    /** Path of the target URL. */
    public String toPath() {
        return path(to);
    }

    /** Path of the URL pattern, a prefix of the paths of matching requests. */
    public String fromPath() {
        return path(from);
    }

    private static String path(String url) {
        String afterScheme = url.contains("://") ? url.substring(url.indexOf("://") + 3) : url;
        int slash = afterScheme.indexOf('/');
        return slash < 0 ? "/" : afterScheme.substring(slash).replaceFirst("[?].*", "");
    }

    /** The files of header_rewrite whose rules apply to this rule. */
    List<String> rewrites() {
        return rewrites;
    }

    /** Returns true if the rule has a regular expression. */
    public boolean isExpression() {
        return verb.startsWith("regex");
    }

    /** Host of the URL pattern, or regular expression for the host; empty for every host. */
    public String fromHost() {
        return isExpression() ? host(from) : host(from).toLowerCase(Locale.ROOT);
    }

    private static String host(String url) {
        String afterScheme = url.contains("://") ? url.substring(url.indexOf("://") + 3) : url;
        int slash = afterScheme.indexOf('/');
        String authority = slash < 0 ? afterScheme : afterScheme.substring(0, slash);
        int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
        boolean port = colon >= 0 && authority.substring(colon + 1).matches("\\d*");
        return port ? authority.substring(0, colon) : authority;
    }
}
