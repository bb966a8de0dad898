package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.UrlExpressions;
import io.millrace.launcher.squid.Acls.Acl;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of Squid's directives {@code http_access} and {@code cache}. Confined to one thread. */
final class AccessImport {
    /** Private and loopback addresses: the clients of the forward proxy if http_access allows all clients. */
    private static final List<String> PRIVATE =
            List.of("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "fc00::/7", "::1");

    /** Expression for addresses that forward_proxy.deny_destinations contains by default. */
    private static final String LOCAL = "(127|0|169\\.254|10|192\\.168)\\..*|::1.*|fe80.*";

    private final Workspace workspace;
    private final Acls acls;
    private final List<SquidLine> lines;
    private final boolean forward;
    /** Client addresses that lines allow. */
    private final Set<String> clients = new LinkedHashSet<>();
    /**
     * Conditions of the earlier lines with allow. Null once a line allows all requests, or has no equivalent condition.
     */
    private @Nullable List<String> earlierAllows = new ArrayList<>();
    /** True if a line allows all clients. */
    private boolean allowsAllClients;
    /** True if a filter was written. */
    private boolean filtered;
    /** True after a line that denies all other requests. */
    private boolean othersDenied;

    private final Set<String> domains = new LinkedHashSet<>();

    /** Hosts that http_access allows for a reverse proxy ("accelerator"); empty if it allows every host. */
    Set<String> domains() {
        return domains;
    }

    /**
     * Creates a translator.
     *
     * @param forward whether Squid is a forward proxy
     */
    AccessImport(Workspace workspace, Acls acls, List<SquidLine> lines, boolean forward) {
        this.workspace = workspace;
        this.acls = acls;
        this.lines = lines;
        this.forward = forward;
    }

    void read() {
        String lastAction = "";
        boolean decided = false;
        for (SquidLine line : lines) {
            if (line.name().equals("http_access")) {
                lastAction = line.arg(0);
                if (decided) {
                    line.note("an earlier line decides for all clients");
                } else {
                    decided = translateLine(line);
                }
            } else if (line.name().equals("cache") || line.name().equals("no_cache")) {
                translateCache(line);
            }
        }
        if (!decided && filtered && lastAction.equals("deny")) {
            workspace
                    .draft()
                    .root()
                    .addElement("access.filters")
                    .put("action", "allow")
                    .remark("Squid's default is the opposite of the last line.");
        } else if (!decided && (lastAction.equals("allow") || lastAction.isEmpty())) {
            workspace
                    .draft()
                    .root()
                    .addElement("access.filters")
                    .put("action", "deny")
                    .remark("Squid's default is the opposite of the last line.");
        }
        if (forward) {
            writeForwardProxy();
        }
    }

    private void writeForwardProxy() {
        DraftNode root = workspace.draft().root();
        root.put("forward_proxy.enabled", "true");
        List<String> allowed = allowsAllClients ? PRIVATE : List.copyOf(clients);
        if (allowed.isEmpty()) {
            root.put("forward_proxy.enabled", "false").remark("No line of http_access allows clients.");
            return;
        }
        DraftNode node = root.putWords("forward_proxy.allow", allowed);
        if (allowsAllClients) {
            node.remark("http_access allows all clients; only private addresses are written.");
        }
        SquidLine source = allowsAllClients ? lineAllowingAll() : null;
        if (source != null) {
            source.notMapped("forwarding for all clients would be an open proxy: forward_proxy.allow has private"
                    + " addresses only");
        }
    }

    private @Nullable SquidLine lineAllowingAll() {
        return lines.stream()
                .filter(each -> each.name().equals("http_access") && each.args().equals(List.of("allow", "all")))
                .findFirst()
                .orElse(null);
    }

    /** Translates one line. Returns true if it decides for all requests, so that later lines have no effect. */
    private boolean translateLine(SquidLine line) {
        boolean decides = writeFilter(line);
        List<String> earlier = earlierAllows;
        if (line.arg(0).equals("allow") && earlier != null && !line.argsFrom(1).contains("manager")) {
            String when = condition(line);
            if (when == null || when.isEmpty()) {
                earlierAllows = null;
            } else {
                earlier.add(when);
            }
        }
        return decides;
    }

    private boolean writeFilter(SquidLine line) {
        boolean allow = line.arg(0).equals("allow");
        List<String> addresses = new ArrayList<>();
        List<String> methods = new ArrayList<>();
        List<Acl> used = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String name : line.argsFrom(1)) {
            Acl acl = acls.find(name);
            boolean negated = name.startsWith("!");
            if (acl == null) {
                line.notMapped("no list is named '" + name + "'");
                unknown.add(name);
                continue;
            }
            switch (acl.type()) {
                case "src" -> {
                    List<String> words = Acls.addresses(acl);
                    if (words == null || !addresses.isEmpty()) {
                        unknown.add(name);
                    } else {
                        words.forEach(each -> addresses.add(negated ? "~" + each : each));
                        used.add(acl);
                    }
                }
                case "method" -> {
                    if (negated) {
                        unknown.add(name);
                    } else {
                        methods.addAll(acl.values());
                        used.add(acl);
                    }
                }
                default -> unknown.add(name);
            }
        }
        if (handleStandardLine(line, unknown)) {
            return othersDenied;
        }
        if (!unknown.isEmpty()) {
            reportUndecided(line, allow, unknown);
            return false;
        }
        write(line, allow, addresses, methods);
        used.forEach(each -> each.recordKey("access.filters"));
        boolean forAllRequests = addresses.equals(List.of("all")) && methods.isEmpty();
        if (allow) {
            allowsAllClients |= forAllRequests;
            addresses.stream()
                    .filter(each -> !each.startsWith("~") && !each.equals("all"))
                    .forEach(clients::add);
        }
        return forAllRequests;
    }

    private void write(SquidLine line, boolean allow, List<String> addresses, List<String> methods) {
        DraftNode filter = workspace.draft().root().addElement("access.filters");
        filter.put("action", allow ? "allow" : "deny");
        if (!addresses.isEmpty() && !addresses.equals(List.of("all"))) {
            filter.putWords("src_ip", addresses);
        }
        if (!methods.isEmpty()) {
            filter.putWords("methods", methods);
        }
        filter.from(line.markHandled());
        filtered = true;
    }

    /** Handles lines of Squid's standard configuration that need no filter. Returns false for other lines. */
    private boolean handleStandardLine(SquidLine line, List<String> unknown) {
        boolean deny = line.arg(0).equals("deny");
        List<String> names = line.argsFrom(1);
        if (names.contains("manager")) {
            line.note("the admin API has its own socket and tokens");
            return true;
        }
        if (names.stream().anyMatch(each -> each.equalsIgnoreCase("PURGE")) && isPurge(names)) {
            translatePurge(line, names, deny);
            return true;
        }
        if (deny
                && names.size() == 2
                && names.get(0).equals("CONNECT")
                && names.get(1).startsWith("!")) {
            return translatePorts(line, names.get(1));
        }
        Acl first = names.isEmpty() ? null : acls.find(names.get(0));
        boolean isSingleDeny = deny && names.size() == 1;
        if (isSingleDeny && first != null && first.type().equals("port")) {
            line.note("hosts that clients name are protected by forward_proxy.deny_destinations; ports of rules are"
                    + " those of their origins");
            first.note("the importer uses the list for " + line.entry().place());
            return true;
        }
        if (isSingleDeny
                && first != null
                && first.type().equals("dst")
                && !names.get(0).startsWith("!")) {
            return translateDestinations(line, first);
        }
        if (!deny && !forward && unknown.equals(names) && unknown.stream().allMatch(this::isDomain)) {
            line.markHandled().recordKey("remap");
            for (String each : unknown) {
                recordKey(each, "remap");
                Acl acl = acls.find(each);
                if (acl != null) {
                    domains.addAll(acl.values());
                }
            }
            return !unknown.isEmpty();
        }
        if (deny && names.equals(List.of("all")) && !domains.isEmpty()) {
            line.note("hosts without a rule are answered with 404");
            othersDenied = true;
            return true;
        }
        return false;
    }

    private boolean isPurge(List<String> names) {
        return names.stream().anyMatch(each -> {
            Acl acl = acls.find(each);
            return acl != null && acl.type().equals("method") && acl.values().contains("PURGE");
        });
    }

    private boolean isDomain(String name) {
        Acl acl = acls.find(name);
        return acl != null && acl.type().equals("dstdomain") && !name.startsWith("!");
    }

    private void recordKey(String name, String key) {
        Acl acl = acls.find(name);
        if (acl != null) {
            acl.recordKey(key);
        }
    }

    private void translatePurge(SquidLine line, List<String> names, boolean deny) {
        names.forEach(each -> recordKey(each, "purge.allow"));
        if (deny) {
            line.note("other clients may not purge");
            return;
        }
        for (String each : names) {
            Acl acl = acls.find(each);
            List<String> addresses = acl == null ? null : Acls.addresses(acl);
            if (addresses != null) {
                DraftNode node = workspace
                        .draft()
                        .root()
                        .putWords("purge.allow", addresses)
                        .removableIfInvalid();
                node.from(line.markHandled());
                return;
            }
        }
        line.notMapped("purge.allow takes addresses of clients, and this line names none");
    }

    private boolean translatePorts(SquidLine line, String name) {
        Acl acl = acls.find(name);
        if (acl == null || !acl.type().equals("port")) {
            return false;
        }
        if (!forward) {
            line.note("CONNECT is refused, because forward_proxy is off");
            acl.note("the importer uses the list for " + line.entry().place());
            return true;
        }
        List<String> ports =
                acl.values().stream().filter(each -> each.matches("\\d{1,5}")).toList();
        workspace.draft().set("forward_proxy.connect_ports", ports, line.markHandled());
        acl.recordKey("forward_proxy.connect_ports");
        if (ports.size() < acl.values().size()) {
            line.notMapped("forward_proxy.connect_ports takes single ports; ranges are left out");
        }
        return true;
    }

    private boolean translateDestinations(SquidLine line, Acl acl) {
        line.markHandled().matchesDefaultOf("forward_proxy.deny_destinations");
        acl.note("the importer uses the list for " + line.entry().place());
        List<String> addresses = Acls.addresses(acl);
        boolean complete = addresses != null && addresses.stream().allMatch(each -> each.matches(LOCAL));
        if (addresses == null) {
            line.notMapped("forward_proxy.deny_destinations takes addresses and ranges only");
        } else if (!complete) {
            line.notMapped("add the addresses to forward_proxy.deny_destinations, which has private ones by default");
        }
        if (!complete) {
            workspace.warn("requests that a line of http_access denies are not refused: see "
                    + line.entry().place());
        }
        return true;
    }

    private void reportUndecided(SquidLine line, boolean allow, List<String> unknown) {
        Acl acl = acls.find(unknown.get(0));
        String type = acl == null ? "?" : acl.type();
        if (allow) {
            line.notMapped("filters compare addresses and methods, not '" + type + "'; the requests are not allowed by"
                    + " this line");
        } else if (!writeRefusal(line)) {
            line.notMapped("filters compare addresses and methods, not '" + type + "'; the requests are not refused");
            workspace.warn("requests that a line of http_access denies are not refused: see "
                    + line.entry().place());
        }
    }

    /** Writes the answer 403 for a line of a reverse proxy. Returns false if its lists have no equivalent in rules. */
    private boolean writeRefusal(SquidLine line) {
        List<String> earlier = earlierAllows;
        String when = forward ? null : condition(line);
        if (when == null || when.isEmpty() || earlier == null) {
            return false;
        }
        StringBuilder all = new StringBuilder(when);
        earlier.forEach(each -> all.append(" && !(").append(each).append(')'));
        DraftNode rule = workspace
                .draft()
                .root()
                .addElement("rules")
                .removableIfInvalid()
                .from(line.markHandled());
        rule.put("when", all.toString());
        rule.put("answer.status", "403");
        line.argsFrom(1).forEach(each -> recordKey(each, "rules"));
        return true;
    }

    /**
     * Returns the condition for the requests that match all lists of a line; empty if all requests match. Returns null
     * if the condition has no equivalent.
     */
    private @Nullable String condition(SquidLine line) {
        List<String> parts = new ArrayList<>();
        for (String name : line.argsFrom(1)) {
            Acl acl = acls.find(name);
            String text = acl == null || acl.type().equals("http_status") ? null : HeaderImport.condition(acls, acl);
            if (text == null || (text.isEmpty() && name.startsWith("!"))) {
                return null;
            }
            if (!text.isEmpty()) {
                parts.add(name.startsWith("!") ? "!(" + text + ")" : text);
            }
        }
        return String.join(" && ", parts);
    }

    /** Translates a {@code cache} line. With deny, matching responses are not stored. */
    private void translateCache(SquidLine line) {
        boolean deny = line.arg(0).equals("deny");
        if (!deny) {
            line.note("responses are stored by default");
            return;
        }
        if (line.argsFrom(1).equals(List.of("all"))) {
            workspace.draft().set("cache.enabled", "false", line.markHandled());
            return;
        }
        Acl acl = line.argsFrom(1).size() == 1 ? acls.find(line.arg(1)) : null;
        if (acl == null || line.arg(1).startsWith("!") || !writeNeverCache(line, acl)) {
            line.notMapped("only a line with one list, of URLs, hosts or addresses, becomes cache_rules");
        }
    }

    private boolean writeNeverCache(SquidLine line, Acl acl) {
        if (!acl.isComplete()) {
            return false;
        }
        List<String> expressions = new ArrayList<>();
        for (String value : acl.type().endsWith("_regex") ? acl.values() : List.<String>of()) {
            String url = acl.type().equals("urlpath_regex") ? UrlExpressions.ofTarget(value) : value;
            if (url == null) {
                return false;
            }
            expressions.add(url);
        }
        if (acl.type().endsWith("_regex") && !acl.type().startsWith("url")) {
            return false;
        }
        int next = 0;
        for (String value : acl.values()) {
            DraftNode rule;
            switch (acl.type()) {
                case "urlpath_regex", "url_regex" -> {
                    rule = workspace.draft().root().addElement("cache_rules");
                    rule.put("url_regex", expressions.get(next++));
                }
                case "dstdomain" -> {
                    rule = workspace.draft().root().addElement("cache_rules");
                    boolean below = value.startsWith(".");
                    rule.put(
                            below ? "dest_domain" : "dest_host",
                            (below ? value.substring(1) : value).toLowerCase(Locale.ROOT));
                }
                case "src" -> {
                    List<String> words = acls.connectionAddresses(acl);
                    if (words == null) {
                        return false;
                    }
                    rule = workspace.draft().root().addElement("cache_rules");
                    rule.putWords("src_ip", words);
                }
                default -> {
                    return false;
                }
            }
            rule.put("action", "never_cache");
            rule.from(line.markHandled());
            if (acl.type().equals("src")) {
                break;
            }
        }
        acl.recordKey("cache_rules");
        return true;
    }
}
