package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.OpenSslNames;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The writer of listening addresses, certificates and TLS settings. Confined to one thread. */
final class Listeners {
    /** A TLS setting of a server; {@code words} is null for a scalar. */
    private record Setting(String text, @Nullable List<String> words, Directive source) {}

    private final Workspace workspace;
    private final Draft draft;
    private final List<Server> servers;

    Listeners(Workspace workspace, List<Server> servers) {
        this.workspace = workspace;
        this.draft = workspace.draft();
        this.servers = servers;
    }

    /** Returns an absolute path. A relative path starts at the directory of the configuration. */
    static String path(Workspace workspace, String text) {
        Path path = Path.of(text);
        return path.isAbsolute()
                ? text
                : workspace
                        .base()
                        .toAbsolutePath()
                        .normalize()
                        .resolve(path)
                        .normalize()
                        .toString();
    }

    void write() {
        Map<String, DraftNode> written = new LinkedHashMap<>();
        Map<String, Boolean> http2 = new LinkedHashMap<>();
        for (Server server : servers) {
            Directive http2Line = server.scope().last("http2");
            Directive bind = server.scope().last("proxy_bind");
            for (Listen each : server.listens()) {
                DraftNode node = written.computeIfAbsent(each.address(), address -> {
                    DraftNode created = draft.root().addElement("listen");
                    created.put("address", address);
                    return created;
                });
                if (server.scope().own("listen").contains(each.source())) {
                    node.from(each.source().markHandled());
                }
                if (each.tls()) {
                    node.put("tls.enabled", "true");
                    boolean h2 = each.source().args().contains("http2") || (http2Line != null && http2Line.isOn());
                    http2.merge(each.address(), h2, (a, b) -> a || b);
                } else if (each.source().args().contains("http2")) {
                    node.put("h2c", "true");
                }
                if (bind != null && OriginRules.isTransparent(bind)) {
                    node.put("transparent", "out").from(bind.markHandled());
                }
                if (each.proxyProtocol()) {
                    writeProxyProtocol(node, each, server.scope());
                }
            }
            if (http2Line != null) {
                http2Line.markHandled().recordKey("listen[].http2");
            }
        }
        http2.forEach((address, on) -> {
            DraftNode node = written.get(address);
            if (!on && node != null) {
                node.put("http2", "false").remark("nginx's default; remove the line to offer HTTP/2");
            }
        });
        if (servers.stream().anyMatch(Server::hasTls)) {
            writeCertificates();
            writeSettings();
        }
    }

    private void writeProxyProtocol(DraftNode node, Listen listen, Scope scope) {
        List<Directive> from = scope.all("set_real_ip_from");
        if (from.isEmpty()) {
            listen.source()
                    .notMapped("proxy_protocol: headers are accepted only from access.proxy_protocol_allow; set it and"
                            + " listen[].proxy_protocol: require");
            return;
        }
        node.put("proxy_protocol", "require");
        DraftNode allow = draft.root()
                .putWords(
                        "access.proxy_protocol_allow",
                        from.stream()
                                .map(each -> each.arg(0))
                                .filter(each -> !each.startsWith("unix"))
                                .toList());
        from.forEach(each -> allow.from(each.markHandled()));
    }

    /**
     * Writes each certificate with its key and the names of its servers. The certificate of the default server is
     * first.
     */
    private void writeCertificates() {
        Map<String, List<String>> names = new LinkedHashMap<>();
        Map<String, DraftNode> elements = new LinkedHashMap<>();
        List<Server> sorted = new ArrayList<>(servers);
        sorted.sort(java.util.Comparator.comparing(
                server -> server.listens().stream().noneMatch(each -> each.tls() && each.isDefault())));
        for (Server server : sorted) {
            if (!server.hasTls()) {
                continue;
            }
            List<Directive> files = server.scope().all("ssl_certificate");
            List<Directive> keys = server.scope().all("ssl_certificate_key");
            for (int i = 0; i < files.size(); i++) {
                Directive file = files.get(i);
                Directive key = i < keys.size() ? keys.get(i) : null;
                if (file.arg(0).contains("$") || file.arg(0).startsWith("data:")) {
                    file.notMapped("certificates are files; tls.certificates names them");
                    continue;
                }
                DraftNode element = elements.computeIfAbsent(file.arg(0), name -> {
                    DraftNode created = draft.root().addElement("tls.certificates");
                    created.put("certificate", path(workspace, name));
                    return created;
                });
                element.from(file.markHandled());
                if (key != null && !key.arg(0).matches(".*[$:].*")) {
                    element.put("key", path(workspace, key.arg(0))).from(key.markHandled());
                } else if (key != null) {
                    key.notMapped("keys are PEM files without a passphrase");
                }
                List<String> all = names.computeIfAbsent(file.arg(0), name -> new ArrayList<>());
                server.names().stream()
                        .filter(name -> name.matches("(\\*\\.)?[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+"))
                        .filter(name -> !all.contains(name))
                        .forEach(all::add);
            }
        }
        names.forEach((file, all) -> {
            DraftNode element = elements.get(file);
            if (element != null && !all.isEmpty() && elements.size() > 1) {
                element.putWords("names", all);
            }
        });
    }

    private void writeSettings() {
        Map<String, Map<Server, Setting>> values = new TreeMap<>();
        for (Server server : servers) {
            if (server.hasTls()) {
                readSettings(server.scope())
                        .forEach((key, setting) -> values.computeIfAbsent(key, any -> new LinkedHashMap<>())
                                .put(server, setting));
            }
        }
        values.forEach((key, all) -> {
            Setting first = all.values().iterator().next();
            for (Setting each : all.values()) {
                if (each.text.equals(first.text)) {
                    write(key, each);
                } else {
                    each.source.notMapped("all names have one value, that of "
                            + first.source.entry().place() + "; set " + key.replace("tls.", "tls.certificates[].")
                            + " for single names");
                }
            }
        });
        if (!values.containsKey("tls.ocsp_stapling")) {
            draft.setDefault("tls.ocsp_stapling", "false", "nginx", "ssl_stapling");
        }
    }

    private void write(String key, Setting setting) {
        if (setting.words != null) {
            draft.set(key, setting.words, setting.source.markHandled());
        } else {
            draft.set(key, setting.text, setting.source.markHandled());
        }
        DraftNode node = draft.root().find(key);
        if (node != null) {
            node.removableIfInvalid();
        }
    }

    private Map<String, Setting> readSettings(Scope scope) {
        Map<String, Setting> all = new LinkedHashMap<>();
        readProtocols(scope, all);
        readCiphers(scope, all);
        Directive stapling = scope.last("ssl_stapling");
        if (stapling != null) {
            all.put("tls.ocsp_stapling", new Setting(Boolean.toString(stapling.isOn()), null, stapling));
        }
        Directive verify = scope.last("ssl_verify_client");
        Directive clientCaFile = scope.last("ssl_client_certificate");
        if (verify != null && !verify.arg(0).equals("off")) {
            boolean require = verify.arg(0).equals("on");
            all.put("tls.client_certificates", new Setting(require ? "require" : "request", null, verify));
            if (verify.arg(0).equals("optional_no_ca")) {
                verify.notMapped("a certificate that a client presents must be valid");
            }
            if (clientCaFile != null) {
                all.put("tls.client_ca_file", new Setting(path(workspace, clientCaFile.arg(0)), null, clientCaFile));
            }
        } else if (verify != null) {
            verify.markHandled().matchesDefaultOf("tls.client_certificates");
        }
        Directive revoked = scope.last("ssl_crl");
        if (revoked != null) {
            all.put("tls.client_revocation_file", new Setting(path(workspace, revoked.arg(0)), null, revoked));
        }
        List<Directive> tickets = scope.all("ssl_session_ticket_key");
        if (!tickets.isEmpty()) {
            Directive first = tickets.get(0);
            all.put("tls.ticket_keys_file", new Setting(path(workspace, first.arg(0)), null, first));
            tickets.forEach(each -> {
                if (each != first) {
                    each.notMapped("one file has all keys, the newest first");
                }
            });
        }
        return all;
    }

    private static void readProtocols(Scope scope, Map<String, Setting> all) {
        Directive protocols = scope.last("ssl_protocols");
        if (protocols == null) {
            return;
        }
        boolean tls12 = protocols.args().contains("TLSv1.2");
        boolean tls13 = protocols.args().contains("TLSv1.3");
        if (protocols.args().stream()
                .anyMatch(each -> List.of("SSLv2", "SSLv3", "TLSv1", "TLSv1.1").contains(each))) {
            protocols.entry().note("TLS 1.2 is the oldest version");
        }
        all.put("tls.min_version", new Setting(tls13 && !tls12 ? "TLSv1.3" : "TLSv1.2", null, protocols));
        all.put("tls.max_version", new Setting(tls13 ? "TLSv1.3" : "TLSv1.2", null, protocols));
    }

    private static void readCiphers(Scope scope, Map<String, Setting> all) {
        Directive ciphers = scope.last("ssl_ciphers");
        if (ciphers != null) {
            OpenSslNames.Translation suites = OpenSslNames.suites(ciphers.arg(0));
            if (suites == null && ciphers.arg(0).matches("([A-Z0-9+]+|[:!]|aNULL|eNULL)+")) {
                ciphers.markHandled().matchesDefaultOf("tls.ciphers");
                ciphers.entry().note("the suites of BoringSSL are used; it has no weak ones");
            } else if (suites == null || suites.words().isEmpty()) {
                ciphers.notMapped("the list has sets of suites; name suites in tls.ciphers");
            } else {
                all.put("tls.ciphers", new Setting(String.join(", ", suites.words()), suites.words(), ciphers));
                if (!suites.unknown().isEmpty()) {
                    ciphers.entry().note("BoringSSL does not support " + String.join(", ", suites.unknown()));
                }
            }
        }
        Directive curves = scope.last("ssl_ecdh_curve");
        if (curves != null && curves.arg(0).equals("auto")) {
            curves.markHandled().matchesDefaultOf("tls.groups");
        } else if (curves != null) {
            OpenSslNames.Translation groups = OpenSslNames.groups(curves.arg(0));
            if (groups.words().isEmpty()) {
                curves.notMapped("no group of the list is supported");
            } else {
                all.put("tls.groups", new Setting(String.join(", ", groups.words()), groups.words(), curves));
                if (!groups.unknown().isEmpty()) {
                    curves.entry().note("BoringSSL does not support " + String.join(", ", groups.unknown()));
                }
            }
        }
    }
}
