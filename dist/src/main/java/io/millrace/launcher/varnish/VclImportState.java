package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import io.millrace.launcher.varnish.syntax.Vcl;
import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The state of a VCL import that the translators of several subroutines share. Confined to one thread. */
final class VclImportState {
    private static final Pattern TIME = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,6})?)(ms|[smhdwy])");

    private final Workspace workspace;
    private final Vcl vcl;
    /** The written elements of cache_rules, as texts, so that none is written twice. */
    private final Set<String> written = new LinkedHashSet<>();
    /** The access lists whose filters were written, each with the direction of the filter. */
    private final Set<String> filters = new LinkedHashSet<>();

    private final FieldRules fields;
    /** True if the built-in VCL, which passes requests with Cookie, is reached. */
    private boolean builtInReached = true;
    /** True if vcl_recv passes requests with Cookie. */
    private boolean passedByRecv;

    VclImportState(Workspace workspace, Vcl vcl) {
        this.workspace = workspace;
        this.vcl = vcl;
        fields = new FieldRules(this);
    }

    Workspace workspace() {
        return workspace;
    }

    Vcl vcl() {
        return vcl;
    }

    /** The translator of changed header fields. */
    FieldRules fields() {
        return fields;
    }

    /** Returns true if requests with Cookie bypass the cache. Either vcl_recv or the built-in VCL passes them. */
    boolean cookiesPass() {
        return builtInReached || passedByRecv;
    }

    /** Records that a line of vcl_recv passes requests with Cookie. */
    void passCookies(Entry source) {
        passedByRecv = true;
        DraftNode node = workspace.draft().root().put("cache.cache_responses_to_cookies", "none");
        node.from(source);
    }

    /**
     * Records that requests with Cookie use the cache. In this case vcl_recv removes cookies, or ends before the
     * built-in VCL.
     */
    void useCacheWithCookies() {
        builtInReached = false;
    }

    /** Converts a time of VCL to Millrace's notation. Returns null if the text is not a constant time. */
    static @Nullable String time(String text) {
        Matcher matcher = TIME.matcher(text.strip());
        if (!matcher.matches()) {
            return null;
        }
        BigDecimal number = new BigDecimal(matcher.group(1));
        String unit = matcher.group(2).equals("y") ? "d" : matcher.group(2);
        BigDecimal value = matcher.group(2).equals("y") ? number.multiply(BigDecimal.valueOf(365)) : number;
        if (value.signum() == 0) {
            return "0";
        }
        return value.stripTrailingZeros().toPlainString() + unit;
    }

    /** Returns a constant time of VCL in whole seconds. Returns -1 if the text is not a constant time. */
    static long seconds(String text) {
        Matcher matcher = TIME.matcher(text.strip());
        if (!matcher.matches()) {
            return -1;
        }
        long millis =
                switch (matcher.group(2)) {
                    case "ms" -> 1;
                    case "s" -> 1000;
                    case "m" -> 60_000;
                    case "h" -> 3_600_000;
                    case "d" -> 86_400_000;
                    case "w" -> 7 * 86_400_000L;
                    default -> 365 * 86_400_000L;
                };
        return new BigDecimal(matcher.group(1))
                        .multiply(BigDecimal.valueOf(millis))
                        .longValue()
                / 1000;
    }

    /** Sets a key outside of lists. If the validator refuses the value, only this key is removed. */
    void set(String key, String value, Entry source) {
        workspace.draft().set(key, value, source);
        DraftNode node = workspace.draft().root().find(key);
        if (node != null) {
            node.removableIfInvalid();
        }
    }

    /**
     * Adds an element of cache_rules. Returns false if the tests have no equivalent in its conditions.
     */
    boolean rule(Match match, String key, String value, Entry... sources) {
        if (match.urls().size() > 1 || match.hosts().size() > 1 || !match.isUrl()) {
            return false;
        }
        String url = match.urls().isEmpty() ? null : Match.urlRegex(match.urls().get(0));
        Test host = match.hosts().isEmpty() ? null : match.hosts().get(0);
        boolean isHostSupported =
                host == null || host.operator().equals("==") || host.operator().equals("~");
        if ((!match.urls().isEmpty() && url == null) || !isHostSupported) {
            return false;
        }
        if (!written.add(url + " " + host + " " + key + " " + value)) {
            for (Entry source : sources) {
                source.recordKey("cache_rules");
            }
            return true;
        }
        DraftNode rule = workspace.draft().root().addElement("cache_rules");
        if (host != null && host.operator().equals("==")) {
            rule.put("dest_host", host.right().replaceAll(":\\d+$", ""));
        } else if (host != null) {
            rule.put("host_regex", host.right());
        }
        if (url != null) {
            rule.put("url_regex", url);
        }
        rule.put(key, value);
        for (Entry source : sources) {
            rule.from(source);
        }
        return true;
    }

    /** Returns the addresses of an access list; null if it does not exist. */
    @Nullable
    List<String> addresses(String acl) {
        Vcl.Acl found = vcl.acls().get(acl);
        if (found == null) {
            return null;
        }
        Set<String> words = new LinkedHashSet<>();
        for (Vcl.Address each : found.addresses()) {
            String text = each.text().equals("localhost") ? "127.0.0.1" : each.text();
            if (!text.matches("[0-9a-fA-F.:]+(/\\d{1,3})?")) {
                each.entry().notMapped("names of hosts cannot be used as addresses of clients");
                continue;
            }
            words.add((each.negated() ? "~" : "") + Addresses.of(text));
            if (each.text().equals("localhost")) {
                words.add("::1");
            }
        }
        return List.copyOf(words);
    }

    /** Marks the lines of an access list as mapped to a key. */
    void markAclUsed(String acl, String key) {
        Vcl.Acl found = vcl.acls().get(acl);
        if (found != null) {
            found.entry().recordKey(key);
            found.addresses().forEach(each -> each.entry().recordKey(key));
        }
    }

    /**
     * Adds filters for all rules that deny clients. Returns false if the access list has no address.
     *
     * @param inside whether to deny the clients in the list; otherwise all other clients are denied
     */
    boolean deny(String acl, boolean inside, Entry source) {
        List<String> words = addresses(acl);
        if (words == null || words.isEmpty()) {
            return false;
        }
        if (filters.add(acl + inside)) {
            DraftNode filter = workspace.draft().root().addElement("access.filters");
            filter.put("action", inside ? "deny" : "allow");
            filter.putWords("src_ip", words);
            filter.from(source);
            if (!inside) {
                workspace.draft().root().addElement("access.filters").put("action", "deny");
            }
        }
        source.recordKey("access.filters");
        markAclUsed(acl, "access.filters");
        return true;
    }
}
