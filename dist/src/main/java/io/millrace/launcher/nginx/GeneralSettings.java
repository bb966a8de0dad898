package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of directives that become settings for all rules. Confined to one thread. */
final class GeneralSettings {
    /** The type of a directive's value. */
    private enum Kind {
        TIME,
        SIZE,
        NUMBER
    }

    /**
     * A directive with one value, and its keys.
     *
     * @param nginxDefault nginx's default, which is written if Millrace has another default; empty for none
     */
    private record Simple(String name, Kind kind, String nginxDefault, List<String> keys) {}

    private static final List<Simple> SIMPLE = List.of(
            new Simple("client_header_timeout", Kind.TIME, "60s", List.of("timeouts.client_header")),
            new Simple("client_body_timeout", Kind.TIME, "60s", List.of("timeouts.client_body")),
            new Simple("keepalive_timeout", Kind.TIME, "75s", List.of("timeouts.client_keep_alive")),
            new Simple("keepalive_requests", Kind.NUMBER, "1000", List.of("limits.requests_per_connection")),
            new Simple("client_max_body_size", Kind.SIZE, "1m", List.of("limits.request_body")),
            new Simple("proxy_connect_timeout", Kind.TIME, "60s", List.of("timeouts.origin_connect")),
            new Simple(
                    "proxy_read_timeout",
                    Kind.TIME,
                    "60s",
                    List.of("timeouts.origin_first_byte", "timeouts.origin_idle")),
            new Simple("http2_max_concurrent_streams", Kind.NUMBER, "", List.of("http2.streams")));

    private final Workspace workspace;
    private final Draft draft;
    private final Scope http;
    private final List<Scope> scopes;

    /**
     * Creates a translator.
     *
     * @param scopes the scopes of rules and servers. If they have different values, the largest value is written
     */
    GeneralSettings(Workspace workspace, Scope http, List<Scope> scopes) {
        this.workspace = workspace;
        this.draft = workspace.draft();
        this.http = http;
        this.scopes = scopes.isEmpty() ? List.of(http) : scopes;
    }

    void write() {
        SIMPLE.forEach(this::writeSimple);
        for (Directive each :
                scopes.stream().flatMap(one -> one.all("send_timeout").stream()).toList()) {
            if (!each.isHandled()) {
                each.note("timeouts.client_body also limits the time in which a client takes nothing of its response");
            }
        }
        writeHeaderBuffers();
        writeResolver();
        writeRealIp();
        writeConnections();
        writeStorage();
    }

    private List<Directive> directivesOf(String name) {
        Set<Directive> found = new LinkedHashSet<>();
        for (Scope scope : scopes) {
            Directive each = scope.last(name);
            if (each != null) {
                found.add(each);
            }
        }
        return List.copyOf(found);
    }

    private void writeSimple(Simple simple) {
        List<Directive> found = directivesOf(simple.name);
        Directive largestLine = null;
        long largest = -1;
        for (Directive each : found) {
            Long value = number(simple, each.arg(0));
            // For nginx, a size of zero means no limit.
            long rank = value == null ? -1 : value == 0 && simple.kind == Kind.SIZE ? Long.MAX_VALUE : value;
            if (rank > largest) {
                largest = rank;
                largestLine = each;
            }
        }
        if (largestLine == null) {
            for (Directive each : found) {
                each.notMapped("'" + each.arg(0) + "' is not understood");
            }
            for (String key : simple.keys) {
                String text = text(simple, simple.nginxDefault);
                if (text != null && found.isEmpty()) {
                    draft.setDefault(key, text, "nginx", simple.name + " " + simple.nginxDefault);
                    markRemovable(key);
                }
            }
            return;
        }
        String text = text(simple, largestLine.arg(0));
        if (simple.name.equals("keepalive_timeout") && "0".equals(text)) {
            draft.set("limits.requests_per_connection", "1", largestLine.markHandled());
            return;
        }
        if (simple.name.equals("keepalive_requests") && "0".equals(text)) {
            // For nginx, zero ends each connection after one response. For this key it means no limit.
            text = "1";
        }
        for (Directive each : found) {
            if (each.arg(0).equals(largestLine.arg(0))) {
                for (String key : simple.keys) {
                    draft.set(key, String.valueOf(text), each.markHandled());
                    markRemovable(key);
                }
            } else {
                each.notMapped("all rules have one value, the largest: that of "
                        + largestLine.entry().place());
            }
        }
    }

    private void markRemovable(String key) {
        DraftNode node = draft.root().find(key);
        if (node != null) {
            node.removableIfInvalid();
        }
    }

    private static @Nullable Long number(Simple simple, String text) {
        return switch (simple.kind) {
            case TIME -> Values.millis(text);
            case SIZE -> Values.bytes(text);
            case NUMBER -> text.matches("\\d{1,10}") ? Long.valueOf(text) : null;
        };
    }

    private static @Nullable String text(Simple simple, String text) {
        return switch (simple.kind) {
            case TIME -> Values.time(text);
            case SIZE -> Values.size(text);
            case NUMBER -> text;
        };
    }

    private void writeHeaderBuffers() {
        List<Directive> found = directivesOf("large_client_header_buffers");
        for (Directive each : found) {
            Long size = Values.bytes(each.arg(1));
            if (size == null || !each.arg(0).matches("\\d{1,5}")) {
                each.notMapped("the numbers are not understood");
                continue;
            }
            draft.set("limits.request_line", Quantity.size(Math.min(65_536, Math.max(256, size))), each.markHandled());
            long all = Math.min(1 << 20, Math.max(1024, size * Long.parseLong(each.arg(0))));
            draft.set("limits.request_header", Quantity.size(all), each.entry());
        }
    }

    private void writeResolver() {
        for (Directive each : directivesOf("resolver")) {
            List<String> servers = new ArrayList<>();
            for (String word : each.args()) {
                if (word.startsWith("valid=")) {
                    String time = Values.time(word.substring(6));
                    if (time != null) {
                        draft.set("dns.ttl_max", time, each.entry());
                        markRemovable("dns.ttl_max");
                    }
                } else if (!word.contains("=")) {
                    servers.add(word);
                }
            }
            if (draft.root().find("dns.name_servers") != null) {
                each.notMapped("all rules have the same name servers");
            } else {
                draft.root()
                        .putWords("dns.name_servers", servers)
                        .removableIfInvalid()
                        .from(each.markHandled());
            }
        }
        for (Directive each : directivesOf("resolver_timeout")) {
            String time = Values.time(each.arg(0));
            if (time != null) {
                draft.set("dns.query_timeout", time, each.markHandled());
                markRemovable("dns.query_timeout");
            }
        }
    }

    private void writeRealIp() {
        Set<Directive> all = new LinkedHashSet<>();
        scopes.forEach(scope -> all.addAll(scope.all("set_real_ip_from")));
        List<String> from = new ArrayList<>();
        for (Directive each : all) {
            from.add(each.arg(0));
        }
        if (!from.isEmpty()) {
            DraftNode node =
                    draft.root().putWords("access.trusted_proxies", from).removableIfInvalid();
            all.forEach(each -> node.from(each.markHandled()));
        }
        for (Directive each : directivesOf("real_ip_header")) {
            if (each.arg(0).equalsIgnoreCase("X-Forwarded-For") && !from.isEmpty()) {
                draft.set("access.filter_by_x_forwarded_for", "true", each.markHandled());
            } else if (each.arg(0).equalsIgnoreCase("proxy_protocol")) {
                each.note("the value needs no key: with the PROXY protocol, the address in its header is always the"
                        + " client's address");
            } else {
                each.notMapped("the client's address is read only from X-Forwarded-For, in requests from"
                        + " access.trusted_proxies");
            }
        }
    }

    /**
     * Translates limit_conn to limits.per_client.requests. Both limit the requests in progress of one client, but the
     * key of Millrace applies to all rules. Therefore the key is written only if each rule has a limit, and gets the
     * largest of them.
     */
    private void writeConnections() {
        List<Scope> proxied = scopes.stream()
                .filter(each -> !each.own("proxy_pass", "grpc_pass").isEmpty())
                .toList();
        boolean isLimitedEverywhere = proxied.stream()
                .allMatch(each -> each.all("limit_conn").stream().anyMatch(this::isByClient));
        // A scope can have several limits, each of another kind.
        Set<Directive> limits = new LinkedHashSet<>();
        scopes.forEach(each -> limits.addAll(each.all("limit_conn")));
        Directive largest = null;
        for (Directive each : limits) {
            if (!isByClient(each)) {
                each.notMapped("requests are limited by client only: limits.per_client.requests");
            } else if (!isLimitedEverywhere) {
                each.notMapped("limits.per_client.requests holds for all rules, and some of them have no limit");
                workspace.warn("the requests of a client are not limited: see "
                        + each.entry().place());
            } else if (largest == null || number(each) > number(largest)) {
                largest = each;
            }
        }
        for (Directive each : limits) {
            if (largest != null && !each.isHandled() && number(each) < number(largest)) {
                each.notMapped("all rules have one limit, the largest: that of "
                        + largest.entry().place());
            } else if (largest != null && !each.isHandled()) {
                draft.set("limits.per_client.requests", each.arg(1), each.markHandled());
                each.entry()
                        .note("requests that wait for the origin count too; beyond the limit a client gets 429, in"
                                + " nginx 503");
                markRemovable("limits.per_client.requests");
                zone(each)
                        .forEach(one -> one.note(
                                "the importer uses the zone for " + each.entry().place()));
            }
        }
    }

    private static int number(Directive limit) {
        return limit.arg(1).matches("\\d{1,9}") ? Integer.parseInt(limit.arg(1)) : 0;
    }

    private List<Directive> zone(Directive limit) {
        return http.own("limit_conn_zone").stream()
                .filter(one -> one.args().stream().anyMatch(word -> word.startsWith("zone=" + limit.arg(0) + ":")))
                .toList();
    }

    private boolean isByClient(Directive limit) {
        return zone(limit).stream().anyMatch(one -> one.arg(0).matches("\\$(binary_)?remote_addr"));
    }

    /** Returns the time after which nginx removes a response without requests, in Millrace's syntax. */
    static String inactive(Scope http) {
        for (Directive each : http.own("proxy_cache_path")) {
            String option = Upstreams.option(each, "inactive");
            String time = option == null ? null : Values.time(option);
            if (time != null) {
                return time;
            }
        }
        return "10m";
    }

    private void writeStorage() {
        for (Directive each : http.own("proxy_cache_path")) {
            DraftNode element = draft.addElement("storage", each.markHandled());
            Path path = Path.of(Listeners.path(workspace, each.arg(0)));
            // Millrace gets a directory of its own, because nginx removes unknown files from its cache directory.
            element.put("path", path.toString().replaceAll("/+$", "") + "-millrace");
            String option = Upstreams.option(each, "max_size");
            String size = option == null ? null : Values.size(option);
            if (size == null) {
                element.put("size", "10GiB");
                String reason = option == null ? "nginx sets no limit here" : "'" + option + "' is not understood";
                each.notMapped("max_size: " + reason + "; 10GiB is written, set it to the size of the disk");
            } else {
                element.put("size", size);
            }
            if (Upstreams.option(each, "inactive") != null) {
                each.entry().note("inactive: responses stay until the space is needed for others");
            }
            if (http.own("proxy_cache_path").size() > 1) {
                each.entry().note("responses of all rules are spread over all storage paths; see volumes");
            }
        }
    }
}
