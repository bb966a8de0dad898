package io.millrace.launcher.ats;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.draft.JoinedYaml;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.ats.settings.CertificateImport;
import io.millrace.launcher.ats.settings.NameCertificates;
import io.millrace.launcher.ats.settings.NameSettings;
import io.millrace.launcher.ats.settings.OriginTlsImport;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.Regex;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * The importer of sni.yaml, which contains TLS settings for each server name. Permitted client addresses become filters
 * of the remap rules for that name. TLS settings become an element of {@code tls.certificates}. If a name requires
 * client certificates and Millrace cannot express this, the remap rules for the name deny all clients. Confined to one
 * thread.
 */
final class SniImport {
    /**
     * The settings of one server name.
     *
     * @param hosts regular expression for all hosts that a name with a star matches; null for a name without a star
     * @param somePorts whether the settings apply to some ports only; at other ports, the next matching policy applies
     * @param allowed addresses of clients whose connections are accepted; null for all
     * @param words the same addresses as they are written in the file
     * @param settings TLS settings for clients
     * @param origin TLS settings for origins with this name
     */
    private record Policy(
            String name,
            @Nullable String hosts,
            boolean somePorts,
            Entry entry,
            @Nullable AddressSet allowed,
            List<String> words,
            NameSettings settings,
            Map<String, String> origin) {
        boolean matches(String host) {
            return hosts == null ? host.equals(name) : host.matches(hosts);
        }

        /**
         * Returns true if the name has the form {@code *.DOMAIN}, which matches all hosts below a domain, with any
         * number of labels.
         */
        boolean isWildcard() {
            return hosts != null && name.startsWith("*.") && name.indexOf('*', 1) < 0;
        }

        String domain() {
            return name.substring(2);
        }

        /**
         * Returns true if the settings apply to a host at every port. For a wildcard, they must apply to all its hosts.
         */
        boolean coversAllPortsOf(String hostOrWildcard) {
            boolean wildcard = hostOrWildcard.startsWith("*");
            return !somePorts && (!wildcard || hosts != null) && matches(hostOrWildcard.replace("*", "a"));
        }
    }

    private final ImportState state;
    private final CertificateImport certificates;
    /** True for the configuration of a Traffic Server before version 10, which permits a star anywhere in a name. */
    private final boolean beforeVersion10;

    private static final String CLIENT_SNI = "client_sni_policy";

    private static final Set<String> ORIGIN_KEYS =
            Set.of("verify_server_policy", "verify_server_properties", "client_cert", "client_key");

    private final List<Policy> policies = new ArrayList<>();
    private final Set<Entry> usedForOrigins = new HashSet<>();
    private final Set<Entry> usedForSni = new HashSet<>();

    /** Entries of policies whose rules deny all clients. */
    private final Set<Entry> denied = new HashSet<>();

    SniImport(ImportState state, CertificateImport certificates) {
        this.state = state;
        this.certificates = certificates;
        beforeVersion10 = !state.has("records.yaml");
    }

    /**
     * Reads sni.yaml, and writes its settings to the draft and to the remap rules.
     *
     * @param rules all remap rules
     */
    void read(List<RemapRule> rules) {
        String name = state.fileNameOf("ssl.servername.filename", "sni.yaml");
        // Version 8 used another file name, and the list was the top-level value of the file.
        boolean oldName = !state.has(name) && state.has("ssl_server_name.yaml");
        JoinedYaml yaml = JoinedYaml.read(state, oldName ? "ssl_server_name.yaml" : name, false, List.of("sni"));
        if (yaml == null) {
            return;
        }
        yaml.items(oldName ? "" : "sni").forEach(this::readPolicy);
        rules.forEach(this::writeOriginTls);
        rules.forEach(this::writeOriginSni);
        reportUnusedOriginTls();
        boolean secure = state.draft().elements("listen").stream().anyMatch(listener -> listener.find("tls") != null);
        writeClientTls(rules, secure);
        if (secure) {
            rules.forEach(this::addFilters);
        } else {
            policies.forEach(policy -> policy.entry.note("no address of listen has tls"));
        }
    }

    /** Writes the TLS settings of server names for clients. */
    private void writeClientTls(List<RemapRule> rules, boolean secure) {
        NameCertificates names = new NameCertificates(state, certificates);
        List<Policy> strictWildcards = new ArrayList<>();
        for (int i = 0; i < policies.size(); i++) {
            Policy policy = policies.get(i);
            NameSettings settings = policy.settings;
            if (policies.subList(0, i).stream().anyMatch(other -> other.coversAllPortsOf(policy.name))) {
                policy.entry.note("an earlier line applies to this name");
                continue;
            }
            String why = obstacle(policy, names, secure);
            if (why != null) {
                settings.hint(policy.entry, why);
                if (settings.strict() && secure) {
                    denied.add(policy.entry);
                    policy.entry.notMapped(
                            "until these settings are written, the rules for this name deny all requests");
                }
            } else if (!settings.isEmpty()) {
                write(policy, i, names, rules);
                if (settings.strict() && policy.isWildcard()) {
                    strictWildcards.add(policy);
                }
            }
        }
        names.write();
        strictWildcards.forEach(policy -> denyDeeperHosts(policy, rules));
    }

    /**
     * Returns the reason why the settings of a name cannot be written. Returns null if there is no obstacle, or if the
     * name has no settings.
     */
    private static @Nullable String obstacle(Policy policy, NameCertificates names, boolean secure) {
        NameSettings settings = policy.settings;
        if (settings.isEmpty() && settings.isComplete()) {
            return null;
        }
        if (!settings.isComplete()) {
            return "verify_client cannot be imported";
        }
        if (!secure) {
            return "no address of listen has tls";
        }
        if (names.fault() != null) {
            return names.fault();
        }
        if (policy.somePorts) {
            return "inbound_port_ranges: settings of a name apply to every address";
        }
        if (policy.name.equals("*")) {
            return "* alone means all names, whose settings are in section tls";
        }
        return policy.hosts == null || policy.isWildcard() ? null : "* must stand for a whole label";
    }

    /**
     * Writes the settings of a name. A wildcard of sni.yaml matches any number of labels, but a wildcard of a
     * certificate matches only one. Therefore this also writes the settings for each known host with several labels
     * below the domain.
     */
    private void write(Policy policy, int index, NameCertificates names, List<RemapRule> rules) {
        Set<String> serverNames = new LinkedHashSet<>(Set.of(policy.name));
        if (policy.isWildcard()) {
            serverNames.addAll(names.below(policy.domain()));
            rules.stream()
                    .filter(rule -> !rule.isExpression() && !rule.verb().equals("reverse_map"))
                    .map(RemapRule::fromHost)
                    .filter(host -> policy.matches(host)
                            && host.indexOf('.')
                                    < host.length() - policy.domain().length() - 1)
                    .forEach(serverNames::add);
        }
        for (Policy other : policies.subList(0, index)) {
            if (other.hosts == null && policy.matches(other.name) && !other.somePorts) {
                names.add(Set.of(other.name), other.settings, other.entry);
            }
            serverNames.removeIf(other::coversAllPortsOf);
        }
        names.add(serverNames, policy.settings, policy.entry);
    }

    /**
     * Denies access to hosts that are several labels below a domain that requires client certificates. No wildcard in
     * Millrace matches these hosts, so clients could reach them without a certificate, through a rule for many hosts.
     * Does nothing if no such rule exists.
     */
    private void denyDeeperHosts(Policy policy, List<RemapRule> rules) {
        boolean hasWideRule = rules.stream()
                .anyMatch(rule -> rule.node() != null
                        && !rule.verb().equals("reverse_map")
                        && (rule.fromHost().isEmpty() || (rule.isExpression() && mayMatch(rule.fromHost(), policy))));
        if (!hasWideRule) {
            return;
        }
        DraftNode rule = state.draft().root().addFirst("remap").from(policy.entry);
        rule.put("regex_map", "https://[^.]+\\..*\\." + policy.domain().replace(".", "\\.") + "/");
        rule.put("to", DraftNode.DENIED_TARGET);
        rule.addElement("filters").put("action", "deny");
        policy.entry.note("hosts of several labels below " + policy.domain()
                + " are denied in rules for many hosts, because the wildcard of a certificate stands for one label");
    }

    /** Writes TLS settings for the origin of a rule. The first policy that matches the name of the origin applies. */
    private void writeOriginTls(RemapRule rule) {
        DraftNode node = rule.node();
        if (node == null || !rule.isToSecure() || rule.verb().equals("reverse_map") || rule.isExpression()) {
            return;
        }
        for (Policy policy : policies) {
            if (policy.matches(rule.toHost())) {
                if (ORIGIN_KEYS.stream().anyMatch(policy.origin::containsKey)) {
                    new OriginTlsImport(state).apply(policy.origin, node, policy.entry);
                    usedForOrigins.add(policy.entry);
                }
                return;
            }
        }
    }

    /**
     * Writes the server name that is sent to a rule's origin. Traffic Server selects it by the client's server name.
     */
    private void writeOriginSni(RemapRule rule) {
        DraftNode node = rule.node();
        if (node == null
                || !rule.isToSecure()
                || rule.isExpression()
                || rule.verb().equals("reverse_map")
                || !rule.from().toLowerCase(Locale.ROOT).startsWith("https://")) {
            return;
        }
        for (Policy policy : policies) {
            if (policy.matches(rule.fromHost())) {
                String word = OriginTlsImport.sniWord(policy.origin.getOrDefault(CLIENT_SNI, ""));
                if (word != null) {
                    node.put("origin.tls.sni", word).from(policy.entry);
                    usedForSni.add(policy.entry);
                }
                return;
            }
        }
    }

    private void reportUnusedOriginTls() {
        for (Policy policy : policies) {
            String sni = policy.origin.remove(CLIENT_SNI);
            if (sni != null && OriginTlsImport.sniWord(sni) == null) {
                policy.entry.notMapped(
                        CLIENT_SNI + ": write origin.tls.sni: host or origin.tls.name in the rules of this name");
            } else if (sni != null && !usedForSni.contains(policy.entry)) {
                policy.entry.notMapped(CLIENT_SNI
                        + ": no rule for this host alone has an https origin; set origin.tls.sni in such a rule");
            }
            if (!policy.origin.isEmpty() && !usedForOrigins.contains(policy.entry)) {
                policy.entry.note("no rule has an https origin with this name");
            }
            String word = OriginTlsImport.verifyWord(
                    policy.origin.getOrDefault("verify_server_policy", ""),
                    policy.origin.getOrDefault("verify_server_properties", ""));
            if (word == null) {
                policy.entry.notMapped("verify_server_policy or verify_server_properties is not understood");
            }
        }
    }

    private void readPolicy(JoinedYaml.Item item) {
        String name = Yaml.text(item.node(), "fqdn").toLowerCase(Locale.ROOT);
        if (name.isEmpty()) {
            state.problem(item.entry(), "the entry has no fqdn");
            return;
        }
        List<String> words = new ArrayList<>();
        Map<String, String> origin = new LinkedHashMap<>();
        for (String key : Yaml.pairs(item.node()).keySet()) {
            Node value = Yaml.value(item.node(), key);
            String text = value == null ? "" : Yaml.text(value);
            if (key.equals("ip_allow")) {
                words.addAll(addresses(item.entry(), text));
            } else if (ORIGIN_KEYS.contains(key) || key.equals(CLIENT_SNI)) {
                origin.put(key, text);
            } else if (!NameSettings.has(key)) {
                explain(item.entry(), key, text.toUpperCase(Locale.ROOT));
            }
        }
        String problem = words.isEmpty() ? null : Addresses.problem(words);
        if (problem != null) {
            state.problem(item.entry(), problem);
            return;
        }
        boolean hasAllowList = Yaml.value(item.node(), "ip_allow") != null;
        AddressSet allowed = !hasAllowList
                ? null
                : words.isEmpty() ? AddressSet.NONE : AddressSet.parse(words.toArray(String[]::new));
        boolean somePorts = Yaml.value(item.node(), "inbound_port_ranges") != null;
        NameSettings settings = NameSettings.of(state, item.node(), item.entry());
        policies.add(new Policy(name, expression(name), somePorts, item.entry(), allowed, words, settings, origin));
        explainHostPolicy(item.entry(), Yaml.text(item.node(), "host_sni_policy"), settings);
    }

    /**
     * Returns a regular expression for the hosts of a name with a star. Returns null for any other name. Since version
     * 10 a star is allowed only at the beginning.
     */
    private @Nullable String expression(String name) {
        if (beforeVersion10 ? !name.contains("*") : !name.matches("\\*\\.[^*.].*")) {
            return null;
        }
        return name.replaceAll("[^a-z0-9*_-]", "\\\\$0").replace("*", ".*");
    }

    /** Returns a list of addresses; {@code @} refers to a file that contains the list. */
    private List<String> addresses(Entry entry, String text) {
        if (!text.startsWith("@")) {
            return split(text);
        }
        SourceFile file = state.read(state.relative(text.substring(1)));
        if (file == null) {
            state.problem(entry, text.substring(1) + ": no such file");
            return List.of();
        }
        List<String> words = new ArrayList<>();
        for (int i = 0; i < file.lines().size(); i++) {
            String line = file.lines().get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                words.addAll(split(line));
                file.entry(i + 1, i + 1, 1, line).note("the file was read, because " + entry.place() + " names it");
            }
        }
        return words;
    }

    private static List<String> split(String text) {
        List<String> words = new ArrayList<>();
        for (String word : text.split("[,\\s]+", -1)) {
            if (!word.isEmpty()) {
                words.add(Addresses.of(word));
            }
        }
        return words;
    }

    private static void explain(Entry entry, String key, String value) {
        String off = "OFF";
        switch (key) {
            case "fqdn" -> {}
            case "inbound_port_ranges" ->
                entry.note(
                        "these settings apply to every listening address with tls, not only to these ports; the settings of the name in the Host field apply too");
            case "quic" -> noteIfEqual(entry, key, value, off, "HTTP/3 is not supported");
            case "server_max_early_data" -> noteIfEqual(entry, key, value, "0", "early data is not accepted");
            case "host_sni_policy" -> {}
            case "server_TLSv1_3_cipher_suites" -> entry.notMapped(key + ": the cipher suites of TLS 1.3 are fixed");
            case "ssl_ticket_enabled" ->
                noteIfEqual(entry, key, value, "1", "session tickets are issued for all names");
            case "tunnel_prewarm" ->
                noteIfEqual(entry, key, value, "FALSE", "connections are not forwarded by SNI without TLS termination");
            case "tunnel_route", "forward_route", "partial_blind_route" ->
                entry.notMapped(
                        key
                                + ": connections are not forwarded by SNI without TLS termination; use a rule of remap, or a TCP proxy in front");
            default -> explainFamily(entry, key);
        }
    }

    /**
     * Adds a note about host_sni_policy. Millrace always compares the policy of the name in SNI with that of the Host
     * field.
     */
    private static void explainHostPolicy(Entry entry, String word, NameSettings settings) {
        if (word.isEmpty()) {
            return;
        }
        if (settings.values().containsKey("client_certificates") && !word.equalsIgnoreCase("ENFORCED")) {
            entry.notMapped(
                    "host_sni_policy: requests for a host whose policy for client certificates is stricter than that of"
                            + " the name in SNI are always refused (421)");
        } else {
            entry.note("host_sni_policy: a Host with a stricter policy for client certificates is refused with 421");
        }
    }

    /** Explains keys that are recognized by their prefix. */
    private static void explainFamily(Entry entry, String key) {
        if (key.startsWith("http2_")) {
            entry.note(key + ": the limits of HTTP/2 are in section http2, for all names");
        } else if (key.startsWith("tunnel_")) {
            entry.note(key + ": connections are not forwarded by SNI without TLS termination");
        } else if (key.startsWith("ssl_ticket_")) {
            entry.note(key + ": tickets are issued for all names");
        } else {
            entry.notMapped(key + " is not understood");
        }
    }

    private static void noteIfEqual(Entry entry, String key, String value, String same, String why) {
        if (value.equals(same)) {
            entry.note(key + ": " + why);
        } else {
            entry.notMapped(key + ": " + why);
        }
    }

    /** Returns true if a policy denies some clients. */
    private boolean deniesSomeClients(Policy policy) {
        return denied.contains(policy.entry) || (policy.allowed != null && !policy.allowed.covers(AddressSet.ALL));
    }

    /**
     * Adds the filters of policies to a rule. If the rule has one host, the policies for this host apply, up to the
     * first one that covers every port. If the rule has a regular expression, all policies apply that may match.
     */
    private void addFilters(RemapRule rule) {
        DraftNode node = rule.node();
        String from = rule.from();
        int start = from.indexOf("://");
        String scheme = start < 0 ? "" : from.substring(0, start).toLowerCase(Locale.ROOT);
        if (node == null
                || scheme.equals("http")
                || scheme.equals("ws")
                || rule.verb().equals("reverse_map")) {
            return;
        }
        String host = rule.fromHost();
        if (start < 0) {
            addFiltersForEachName(rule, node);
        } else if (rule.verb().startsWith("regex")) {
            addFiltersForManyHosts(
                    rule,
                    node,
                    policies.stream().filter(policy -> mayMatch(host, policy)).toList());
        } else {
            addFilters(node, policiesOf(host));
        }
    }

    /** Adds the filters of all given policies to a rule for many hosts. */
    private void addFiltersForManyHosts(RemapRule rule, DraftNode node, List<Policy> matching) {
        addFilters(node, matching);
        matching.stream()
                .filter(this::deniesSomeClients)
                .forEach(policy -> policy.entry.note("the filters apply to all hosts of "
                        + rule.entry().place() + ", which has more hosts than this one"));
    }

    /**
     * Copies a rule that applies to every host, once for each name with a policy. Adds the filters of the policy to the
     * copy. The copies are appended after all rules, but take precedence over the original: rules without a host are
     * searched last.
     */
    private void addFiltersForEachName(RemapRule rule, DraftNode node) {
        int last = -1;
        for (int i = 0; i < policies.size(); i++) {
            last = deniesSomeClients(policies.get(i)) ? i : last;
        }
        List<Policy> matching = policies.subList(0, last + 1);
        if (rule.verb().equals("map_with_referer") && matching.stream().anyMatch(policy -> policy.hosts != null)) {
            // The rule kind map_with_referer does not exist with a regular expression.
            addFiltersForManyHosts(rule, node, matching);
            return;
        }
        for (int i = 0; i < matching.size(); i++) {
            Policy policy = matching.get(i);
            boolean isForManyHosts = policy.hosts != null;
            DraftNode named = state.draft()
                    .root()
                    .addElementLike(
                            "remap",
                            node,
                            (isForManyHosts ? "regex_" : "") + rule.verb(),
                            "https://" + (isForManyHosts ? policy.hosts : policy.name) + rule.from());
            named.from(policy.entry);
            addFilters(
                    named,
                    isForManyHosts && policy.somePorts
                            ? matching.subList(i, matching.size())
                            : isForManyHosts ? List.of(policy) : policiesOf(policy.name));
        }
    }

    /** Returns the policies that match a host, up to and including the first one that applies to every port. */
    private List<Policy> policiesOf(String host) {
        List<Policy> matching = new ArrayList<>();
        for (Policy policy : policies) {
            if (policy.matches(host)) {
                matching.add(policy);
                if (!policy.somePorts) {
                    break;
                }
            }
        }
        return matching;
    }

    /** Returns true if a regular expression may match a host of a policy. */
    private static boolean mayMatch(String expression, Policy policy) {
        if (policy.hosts != null) {
            return true;
        }
        try {
            return Regex.compile(expression, Pattern.CASE_INSENSITIVE)
                    .matcher(policy.name)
                    .find();
        } catch (PatternSyntaxException e) {
            return true;
        }
    }

    /** Inserts the filters of the policies, in their order, before the existing filters. */
    private void addFilters(DraftNode rule, List<Policy> matching) {
        for (int i = matching.size() - 1; i >= 0; i--) {
            Policy policy = matching.get(i);
            if (!deniesSomeClients(policy)) {
                continue;
            }
            DraftNode filter = rule.addFirst("filters").from(policy.entry);
            filter.put("action", "deny");
            if (!denied.contains(policy.entry) && !policy.words.isEmpty()) {
                filter.putWords(
                        "src_ip", policy.words.stream().map(word -> "~" + word).toList());
            }
        }
    }
}
