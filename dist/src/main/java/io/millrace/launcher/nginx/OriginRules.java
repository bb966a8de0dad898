package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The writer of those settings of a remap rule that concern its origin: path, Host, TLS and {@code reverse_map}.
 * Confined to one thread.
 */
final class OriginRules {
    /**
     * A {@code reverse_map} rule to be written.
     *
     * @param origin URL of the origin
     * @param client URL for clients
     * @param source the line with the origin
     * @param written the line that the rule translates
     */
    private record Reverse(String origin, String client, Entry source, Entry written) {
        boolean changesPath() {
            return !origin.substring(origin.indexOf('/', 8)).equals(client.substring(client.indexOf('/', 8)));
        }

        /** Origin URL and client host. Of several rules with the same key, Millrace uses only the first. */
        String key() {
            return origin + " " + client.replaceFirst("^(https?://[^/:]+).*", "$1");
        }
    }

    private final Workspace workspace;
    /** The planned {@code reverse_map} rules. */
    private final List<Reverse> reversed = new ArrayList<>();

    OriginRules(Workspace workspace) {
        this.workspace = workspace;
    }

    /**
     * Translates the Host field that the origin gets.
     *
     * @param pristine whether the value is the client's Host field
     * @param literal whether the value is a fixed name; that name is then the host in the rule's target
     */
    static void host(Directive host, RuleSettings.Rule rule, boolean pristine, boolean literal) {
        if (pristine) {
            rule.put("pristine_host_hdr", "true", host.markHandled());
            if (host.arg(1).contains("server_name")) {
                host.entry().note("origins get the Host field of the client, not the name of the server");
            }
        } else if (literal) {
            host.markHandled().recordKey("remap[].to");
        } else if (host.arg(1).matches("\\$(proxy_host|\\{proxy_host}).*")) {
            host.markHandled().matchesDefaultOf("pristine_host_hdr");
        } else {
            host.notMapped("the Host field can only be the client's (pristine_host_hdr) or the host in the rule's to");
        }
    }

    /** Returns the start of the origin's path, if {@code rewrite ... break} removes a prefix; null otherwise. */
    static @Nullable String stripped(Scope scope, String path) {
        for (Directive each : scope.own("rewrite")) {
            String expression = each.arg(0).replaceAll("^\\^|\\$$", "");
            String begin = path.endsWith("/") ? path : path + "/";
            String bare = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
            boolean removesPrefix = expression.equals(begin + "(.*)") || expression.equals(begin + "?(.*)");
            boolean after = expression.equals(bare + "(/.*)") || expression.equals(bare + "(.*)");
            if (each.arg(2).equals("break") && each.arg(1).matches("/[^$]*\\$1") && removesPrefix) {
                each.markHandled().recordKey("remap[].to");
                String to = each.arg(1).substring(0, each.arg(1).length() - 2);
                return path.endsWith("/") || !to.endsWith("/") || to.equals("/")
                        ? to
                        : to.substring(0, to.length() - 1);
            }
            if (each.arg(2).equals("break") && each.arg(1).equals("$1") && after) {
                each.markHandled().recordKey("remap[].to");
                return "/";
            }
        }
        return null;
    }

    /**
     * Plans a {@code reverse_map} rule in place of proxy_redirect. In Location fields, such a rule replaces the
     * origin's URL by the client's URL.
     */
    void planReverseMap(
            Server server, UrlBase base, String path, Scope scope, Target target, String to, boolean pristine) {
        Directive setting = scope.last("proxy_redirect");
        String word = setting == null ? "default" : setting.arg(0);
        if (word.equals("off")) {
            if (setting != null) {
                setting.note("Location is passed on unchanged by default");
            }
            return;
        }
        boolean isDefault = word.equals("default");
        String from = isDefault ? target.scheme() + "://" + to : word;
        if (setting != null && isDefault) {
            setting.markHandled().matchesDefaultOf("remap[].reverse_map");
        }
        if (isDefault && (pristine || base.expression())) {
            return;
        }
        List<String> schemes = base.isForAllUrls()
                ? server.listens().stream()
                        .map(Listen::scheme)
                        .distinct()
                        .sorted()
                        .toList()
                : List.of(base.scheme());
        for (String scheme : schemes) {
            String name = base.isForAllUrls() || base.expression() ? firstHost(server) : base.host();
            String begin = scheme + "://" + name + port(server, scheme);
            String url = isDefault ? begin + path : setting == null ? "" : setting.arg(1);
            String whole = (url.startsWith("/") ? begin + url : url)
                    .replace("$scheme", scheme)
                    .replaceAll("\\$(http_)?host", name);
            if (!from.matches("https?://[^$~]+") || whole.contains("$") || name.isEmpty()) {
                if (setting != null) {
                    setting.notMapped("Location is changed by fixed URLs only: a rule with reverse_map");
                }
                return;
            }
            Entry source = target.source().entry();
            Entry written = setting != null && !isDefault ? setting.markHandled() : source;
            reversed.add(new Reverse(complete(from), complete(whole), source, written));
        }
    }

    /** Returns a URL with at least a slash as its path. */
    private static String complete(String url) {
        return url.indexOf('/', 8) < 0 ? url + "/" : url;
    }

    /** Returns the port of the server's first address with the scheme. Returns an empty text for the default port. */
    private static String port(Server server, String scheme) {
        for (Listen each : server.listens()) {
            if (each.scheme().equals(scheme)) {
                return each.port() == (each.tls() ? 443 : 80) ? "" : ":" + each.port();
            }
        }
        return "";
    }

    private static String firstHost(Server server) {
        return server.names().stream()
                .filter(name -> name.matches("[A-Za-z0-9.-]+"))
                .findFirst()
                .orElse("");
    }

    /** Returns true if connections to origins are made from the client's address. */
    static boolean isTransparent(Directive bind) {
        return bind.args().contains("transparent")
                && (bind.arg(0).equals("$remote_addr") || bind.arg(0).equals("$realip_remote_addr"));
    }

    /**
     * Translates the local address of connections to the origin. {@link Listeners} translates clients' addresses that
     * apply to a whole server.
     */
    static void localAddress(Scope server, Scope scope, RuleSettings.Rule rule) {
        Directive bind = scope.last("proxy_bind");
        if (bind == null || bind.arg(0).equals("off")) {
            return;
        }
        if (bind.args().size() == 1 && bind.arg(0).matches("\\d+(\\.\\d+){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+")) {
            rule.put("origin.source_address", bind.arg(0), bind.markHandled());
        } else if (!isTransparent(bind)) {
            bind.notMapped("origin.source_address is an address; for clients' addresses see listen[].transparent");
        } else if (!bind.equals(server.last("proxy_bind"))) {
            bind.notMapped("listen[].transparent: out applies to all locations of an address");
        }
    }

    /**
     * Translates the verification of the origin's certificate, and the client certificate for the origin.
     *
     * @param section common prefix of the keys to write, such as {@code origin.tls.}
     */
    void translateTls(Scope scope, RuleSettings.Rule rule, Target target, String section) {
        if (!target.scheme().equals("https")) {
            return;
        }
        String family = target.grpc() ? "grpc_ssl_" : "proxy_ssl_";
        Directive verify = scope.last(family + "verify");
        if (verify != null && verify.isOn()) {
            rule.put(section + "verify", "on", verify.markHandled());
        } else if (verify != null) {
            rule.put(section + "verify", "off", verify.markHandled());
        } else {
            rule.putDefault(
                    section + "verify",
                    "warn",
                    "nginx verifies no certificates of origins (" + family + "verify);"
                            + " remove the line once all are valid");
        }
        putFile(scope, rule, family + "trusted_certificate", section + "ca_file");
        putFile(scope, rule, family + "certificate", section + "certificate");
        putFile(scope, rule, family + "certificate_key", section + "key");
        Directive name = scope.last(family + "name");
        if (name != null && name.arg(0).matches("[A-Za-z0-9.-]+")) {
            rule.put(section + "name", name.arg(0), name.markHandled());
        } else if (name != null && name.arg(0).matches("\\$(http_)?host")) {
            rule.put(section + "sni", "host", name.markHandled());
        }
        Directive sni = scope.last(family + "server_name");
        if (sni != null) {
            sni.markHandled().matchesDefaultOf(section + "sni");
        }
        Directive protocols = scope.last(family + "protocols");
        if (protocols != null) {
            boolean old = protocols.args().contains("TLSv1.2");
            rule.put(section + "min_version", old ? "TLSv1.2" : "TLSv1.3", protocols.markHandled());
        }
    }

    private void putFile(Scope scope, RuleSettings.Rule rule, String name, String key) {
        Directive found = scope.last(name);
        if (found != null && !found.arg(0).contains("$")) {
            rule.put(key, Listeners.path(workspace, found.arg(0)), found.markHandled());
        }
    }

    /**
     * Writes the {@code reverse_map} rules, those for longer origin URLs first. Of several rules for one origin URL and
     * one client host, Millrace would use only the first. A rule that keeps the path is therefore preferred.
     */
    void writeReverseRules() {
        reversed.sort(
                Comparator.<Reverse>comparingInt(each -> -each.origin.length()).thenComparing(Reverse::changesPath));
        Map<String, Reverse> written = new HashMap<>();
        for (Reverse each : reversed) {
            Reverse first = written.putIfAbsent(each.key(), each);
            if (first != null) {
                if (!first.client.equals(each.client)) {
                    each.written.note("Location fields with " + each.origin + " lead to " + first.client + ", see "
                            + first.source.place());
                }
                continue;
            }
            DraftNode node = workspace.draft().root().addElement("remap");
            node.put("reverse_map", each.origin);
            node.put("to", each.client);
            node.from(each.written);
        }
    }
}
