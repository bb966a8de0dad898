package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.squid.Acls.Acl;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of Squid's {@code cache_peer} directives to remap rules and origin groups. Confined to one thread. */
final class Peers {
    /** Options that need no note, because other code translates them or they have no effect in Millrace. */
    private static final Set<String> IGNORED = Set.of(
            "no-query",
            "no-digest",
            "no-netdb-exchange",
            "no-delay",
            "default",
            "proxy-only",
            "originserver",
            "name",
            "round-robin",
            "weight",
            "sourcehash",
            "carp",
            "weighted-round-robin",
            "ssl",
            "tls",
            "forceddomain",
            "max-conn",
            "no-tproxy",
            "closest-only",
            "allow-miss",
            "background-ping",
            "standby",
            "connection-auth");

    /** One {@code cache_peer} line. */
    private static final class Peer {
        private final SquidLine line;
        private final String name;
        private final Set<String> domains = new LinkedHashSet<>();

        Peer(SquidLine line) {
            this.line = line;
            String nameOption = line.option("name");
            name = nameOption == null ? line.arg(0) : nameOption;
        }

        boolean isOrigin() {
            return line.args().contains("originserver");
        }

        boolean has(String word) {
            return line.args().contains(word);
        }

        boolean isTls() {
            return has("ssl") || has("tls");
        }

        String authority() {
            String defaultPort = isTls() ? "443" : "80";
            String port = line.arg(2);
            String host = line.arg(0).contains(":") ? "[" + line.arg(0) + "]" : line.arg(0);
            return host + (port.equals(defaultPort) || port.equals("0") ? "" : ":" + port);
        }

        String url() {
            return (isTls() ? "https://" : "http://") + authority();
        }
    }

    private final Workspace workspace;
    private final Acls acls;
    private final List<SquidLine> lines;
    private final List<Peer> peers = new ArrayList<>();
    private final Set<String> groupNames = new LinkedHashSet<>();
    /** Names of the written groups, by the peers of each group. */
    private final Map<String, String> groupOfPeers = new LinkedHashMap<>();

    Peers(Workspace workspace, Acls acls, List<SquidLine> lines) {
        this.workspace = workspace;
        this.acls = acls;
        this.lines = lines;
        for (SquidLine line : lines) {
            if (line.name().equals("cache_peer")) {
                peers.add(new Peer(line));
            }
        }
        for (SquidLine line : lines) {
            restrict(line);
        }
    }

    private void restrict(SquidLine line) {
        boolean domain = line.name().equals("cache_peer_domain");
        if (!domain && !line.name().equals("cache_peer_access")) {
            return;
        }
        Peer peer = peers.stream()
                .filter(each -> each.name.equals(line.arg(0)))
                .findFirst()
                .orElse(null);
        if (peer == null) {
            line.notMapped("no peer is named '" + line.arg(0) + "'");
        } else if (domain) {
            line.argsFrom(1).stream().filter(each -> !each.startsWith("!")).forEach(peer.domains::add);
            line.markHandled().recordKey("remap");
        } else if (line.arg(1).equals("deny")) {
            line.note("requests that no other line allows do not use the origin");
        } else {
            allow(line, peer);
        }
    }

    private void allow(SquidLine line, Peer peer) {
        for (String name : line.argsFrom(2)) {
            Acl acl = acls.find(name);
            if (acl == null || name.startsWith("!")) {
                line.notMapped("'" + name + "': rules select origins by host");
            } else if (acl.type().equals("dstdomain")) {
                peer.domains.addAll(acl.values());
                acl.recordKey("remap");
                line.markHandled().recordKey("remap");
            } else if (name.equals("all")) {
                line.note("the peer is used for all requests");
            } else {
                line.notMapped("'" + acl.type() + "': rules select origins by host");
            }
        }
    }

    /** Returns true if a peer is an origin server, which means that Squid is a reverse proxy ("accelerator"). */
    boolean hasOrigins() {
        return peers.stream().anyMatch(Peer::isOrigin);
    }

    /**
     * Writes the rules of a reverse proxy ("accelerator" in Squid).
     *
     * @param allowed hosts that may be requested; empty for all
     * @param port the {@code http_port} line with the options of the accelerator; null for none
     * @param schemes the schemes of the listening addresses
     */
    void writeRules(Set<String> allowed, @Nullable SquidLine port, List<String> schemes) {
        Map<Set<String>, List<Peer>> byDomains = new LinkedHashMap<>();
        for (Peer peer : peers) {
            if (peer.isOrigin()) {
                Set<String> domains = peer.domains.isEmpty() ? allowed : peer.domains;
                byDomains.computeIfAbsent(domains, key -> new ArrayList<>()).add(peer);
            }
        }
        String site = port == null ? null : port.option("defaultsite");
        boolean usesRequestHost = port == null || !port.args().contains("no-vhost");
        List<Map.Entry<Set<String>, List<Peer>>> sorted = new ArrayList<>(byDomains.entrySet());
        sorted.sort(java.util.Comparator.comparing(each -> each.getKey().isEmpty()));
        // Rules for single hosts precede the rules for all hosts below a domain.
        for (boolean exact : new boolean[] {true, false}) {
            for (Map.Entry<Set<String>, List<Peer>> each : sorted) {
                for (String domain : each.getKey()) {
                    for (String scheme : schemes) {
                        hostRules(domain, scheme, exact, each.getValue(), site, usesRequestHost);
                    }
                }
            }
        }
        for (Map.Entry<Set<String>, List<Peer>> each : sorted) {
            if (each.getKey().isEmpty()) {
                writeRule("map", "/", each.getValue(), site, usesRequestHost);
            }
        }
    }

    private void hostRules(
            String domain,
            String scheme,
            boolean exact,
            List<Peer> to,
            @Nullable String site,
            boolean usesRequestHost) {
        boolean below = domain.startsWith(".");
        String name = (below ? domain.substring(1) : domain).toLowerCase(Locale.ROOT);
        if (exact) {
            writeRule("map", scheme + "://" + name + "/", to, site, usesRequestHost);
        } else if (below) {
            writeRule("regex_map", scheme + "://.*\\." + name.replace(".", "\\.") + "/", to, site, usesRequestHost);
        }
    }

    private void writeRule(String verb, String url, List<Peer> to, @Nullable String site, boolean usesRequestHost) {
        DraftNode rule = workspace.draft().root().addElement("remap");
        Peer first = to.get(0);
        rule.put(verb, url);
        String forced = first.line.option("forceddomain");
        String host = forced != null ? forced : !usesRequestHost && site != null ? site : null;
        boolean group = to.size() > 1 || host != null || first.line.option("max-conn") != null;
        String scheme = first.isTls() ? "https://" : "http://";
        rule.put("to", (host == null ? first.url() : scheme + host) + "/").from(first.line.markHandled());
        if (group) {
            rule.put("origins", writeGroup(to));
        }
        rule.put("pristine_host_hdr", Boolean.toString(host == null)).removableIfInvalid();
        for (Peer peer : to) {
            rule.from(peer.line.markHandled());
            noteOptions(peer.line);
        }
        translateTls(rule, first.line);
    }

    private String writeGroup(List<Peer> to) {
        String key = to.toString();
        String existingName = groupOfPeers.get(key);
        if (existingName != null) {
            return existingName;
        }
        String word = to.get(0).name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]+", "-");
        String name = word;
        for (int i = 2; !groupNames.add(name); i++) {
            name = word + "-" + i;
        }
        groupOfPeers.put(key, name);
        DraftNode group = workspace.draft().root().addElement("origins");
        group.put("name", name);
        Peer first = to.get(0);
        if (first.has("sourcehash")) {
            group.put("policy", "sticky").from(first.line.markHandled());
        } else if (first.has("carp")) {
            group.put("policy", "consistent_hash").from(first.line.markHandled());
            group.put("hash_key", "url");
        } else if (!first.has("round-robin") && !first.has("weighted-round-robin") && to.size() > 1) {
            group.put("policy", "first_live").remark("Squid uses the first peer that is up");
        }
        for (Peer peer : to) {
            DraftNode host = group.addElement("hosts");
            host.put("url", peer.url()).from(peer.line.markHandled());
            String weight = peer.line.option("weight");
            if (weight != null && weight.matches("[1-9]\\d{0,2}")) {
                host.put("weight", weight);
            }
            String limit = peer.line.option("max-conn");
            if (limit != null) {
                group.put("connections_max", limit).removableIfInvalid().from(peer.line.entry());
                peer.line.note("max-conn: the limit applies to each event loop; connections_total_max limits all"
                        + " together");
            }
        }
        return name;
    }

    private static void noteOptions(SquidLine line) {
        for (String word : line.argsFrom(4)) {
            String name = word.replaceAll("=.*", "");
            if (name.equals("login")) {
                if (word.matches("login=PASS(THRU)?")) {
                    line.note("login: Authorization is passed on by default");
                } else {
                    line.notMapped(
                            line.argsFrom(4).contains("originserver")
                                    ? "login: write a rule with set_request_header: {Authorization: VALUE}"
                                    : "login: Millrace cannot log in to other proxies");
                }
            } else if (name.matches("(ssl|tls|sslflags|sslcafile|sslcert|sslkey).*")) {
                line.markHandled();
            } else if (name.equals("connect-timeout") || name.equals("connect-fail-limit")) {
                line.notMapped(name + ": timeouts.origin_connect and origins[].markdown hold for all hosts");
            } else if (!IGNORED.contains(name)) {
                line.notMapped("'" + word + "' has no equivalent");
            }
        }
        if (!line.arg(3).equals("0") && line.arg(3).matches("\\d+")) {
            line.note("the ICP port is not used");
        }
    }

    private void translateTls(DraftNode rule, SquidLine line) {
        String ca = line.option("sslcafile", "tls-cafile");
        if (ca != null) {
            rule.put("origin.tls.ca_file", ca).removableIfInvalid().from(line.entry());
        }
        String flags = line.option("sslflags", "tls-flags");
        if (flags != null && flags.contains("DONT_VERIFY_PEER")) {
            rule.put("origin.tls.verify", "off").removableIfInvalid().from(line.entry());
        } else if (flags != null && flags.contains("DONT_VERIFY_DOMAIN")) {
            rule.put("origin.tls.verify", "chain").removableIfInvalid().from(line.entry());
        }
        String certificate = line.option("sslcert", "tls-cert");
        if (certificate != null) {
            rule.put("origin.tls.certificate", certificate).removableIfInvalid().from(line.entry());
        }
        String key = line.option("sslkey", "tls-key");
        if (key != null) {
            rule.put("origin.tls.key", key).removableIfInvalid().from(line.entry());
        }
    }

    /** Writes the group of parents for forwarded requests, if there are parents. */
    void writeParents() {
        List<Peer> parents = new ArrayList<>();
        for (Peer peer : peers) {
            if (peer.isOrigin()) {
                continue;
            }
            if (peer.line.arg(1).equals("parent") && peer.domains.isEmpty()) {
                parents.add(peer);
            } else if (peer.line.arg(1).equals("parent")) {
                peer.line.notMapped(
                        "all forwarded requests use the same parents; for single hosts write rules of remap");
            } else {
                peer.line.notMapped("siblings exchange no queries; a group with ring_mode: peering_ring shares URLs");
            }
        }
        boolean never = lines.stream()
                .anyMatch(each ->
                        each.name().equals("never_direct") && each.args().equals(List.of("allow", "all")));
        for (SquidLine line : lines) {
            noteDirect(line, !parents.isEmpty());
        }
        if (parents.isEmpty()) {
            return;
        }
        String name = writeGroup(parents);
        for (DraftNode group : workspace.draft().elements("origins")) {
            DraftNode groupName = group.field("name");
            if (groupName != null && name.equals(groupName.text())) {
                group.put("parent_is_proxy", "true");
                group.put("go_direct", Boolean.toString(!never));
            }
        }
        DraftNode node = workspace.draft().root().put("forward_proxy.origins", name);
        parents.forEach(each -> {
            node.from(each.line.markHandled());
            noteOptions(each.line);
        });
    }

    private void noteDirect(SquidLine line, boolean parents) {
        if (line.name().equals("never_direct") && line.args().equals(List.of("allow", "all")) && parents) {
            line.markHandled().recordKey("origins[].go_direct");
        } else if (line.name().equals("never_direct") || line.name().equals("always_direct")) {
            if (hasOrigins()) {
                line.note("rules of remap decide which origin a request goes to");
            } else {
                line.notMapped("either all destinations use parents, or none does");
            }
        }
    }

    /** Adds notes to peers that no rule uses. */
    void noteUnused() {
        peers.forEach(each -> {
            if (!each.line.isHandled()) {
                each.line.note("no address of an accelerator uses the peer");
            }
        });
    }
}
