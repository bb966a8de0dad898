package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.DraftNode;
import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.SourceFile;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.ats.source.Yaml;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/** ssl_multicert.config or .yaml: certificates of the addresses with TLS. Confined to one thread. */
public final class Certificates {
    private record Certificate(Entry entry, String file, String key, boolean general) {}

    private final Input input;
    private final List<Certificate> all = new ArrayList<>();

    /** Reads the certificates of that input. */
    public Certificates(Input input) {
        this.input = input;
    }

    /** Reads the file, if there is one. */
    public void read() {
        SourceFile yaml = input.read("ssl_multicert.yaml");
        SourceFile lines = input.read("ssl_multicert.config");
        if (yaml != null) {
            readYaml(yaml);
        }
        if (lines != null) {
            readLines(lines);
        }
        readRecords();
        // The first one is that of clients that name no host.
        all.sort(Comparator.comparing(each -> !each.general));
    }

    boolean isThere() {
        return !all.isEmpty();
    }

    /** Gives an address the certificate, or all of them where there are several. */
    void use(DraftNode listener) {
        if (all.size() > 1) {
            listener.put("tls.enabled", "true");
            writeAll();
        } else if (!all.isEmpty()) {
            Certificate only = all.get(0);
            listener.put("tls.certificate", only.file).from(only.entry);
            listener.put("tls.key", only.key);
        }
    }

    private void writeAll() {
        if (!input.draft().elements("tls.certificates").isEmpty()) {
            return;
        }
        for (Certificate each : all) {
            DraftNode element = input.draft().element("tls.certificates", each.entry);
            element.put("certificate", each.file);
            if (!each.key.equals(each.file)) {
                element.put("key", each.key);
            }
            if (!each.general) {
                each.entry.note("dest_ip: chosen by the name that a client asks for, not by the address");
            }
        }
    }

    /** Says of certificates that no address has. */
    public void finish() {
        if (input.draft().elements("listen").stream().noneMatch(node -> node.find("tls") != null)) {
            all.forEach(each -> each.entry.note("no port has ssl, so it is not needed"));
        }
    }

    private void readRecords() {
        Rec certificate = input.records().take("ssl.server.cert.filename");
        Rec key = input.records().take("ssl.server.private_key.filename");
        if (certificate != null && certificate.value() != null) {
            add(certificate.entry(), certificate.value(), key == null ? "" : key.text(), true);
            if (key != null) {
                key.entry()
                        .note("taken into account with " + certificate.entry().place());
            }
        } else if (key != null) {
            key.entry().note("the certificate with it is not named");
        }
    }

    private void readLines(SourceFile file) {
        for (Words words : Words.of(file)) {
            Map<String, String> fields = new HashMap<>();
            for (String word : words.words()) {
                int equals = word.indexOf('=');
                if (equals < 0) {
                    file.problem(words.entry(), "'" + word + "' is not NAME=VALUE");
                } else {
                    fields.put(word.substring(0, equals), word.substring(equals + 1));
                }
            }
            add(words.entry(), fields);
        }
    }

    private void readYaml(SourceFile file) {
        NodeTuple top = Yaml.pairs(Yaml.root(file)).get("ssl_multicert");
        if (top == null) {
            return;
        }
        Yaml.section(file, top.getKeyNode());
        for (Node element : Yaml.elements(top.getValueNode())) {
            Map<String, String> fields = new HashMap<>();
            Yaml.pairs(element).forEach((name, pair) -> fields.put(name, Yaml.text(pair.getValueNode())));
            add(Yaml.entry(file, element, element), fields);
        }
    }

    private void add(Entry entry, Map<String, String> fields) {
        String names = fields.getOrDefault("ssl_cert_name", "");
        if (names.isEmpty()) {
            entry.notMapped("names no certificate");
            return;
        }
        for (String other : List.of("ssl_ca_name", "ssl_ocsp_name", "ssl_key_dialog", "action")) {
            if (fields.containsKey(other)) {
                entry.notMapped(other
                        + (other.equals("ssl_ca_name")
                                ? ": put the chain into the certificate's file"
                                : " has no equal"));
            }
        }
        for (String ticket : List.of("ssl_ticket_enabled", "ssl_ticket_number")) {
            if (fields.containsKey(ticket)) {
                entry.note(ticket + ": tickets are as BoringSSL makes them");
            }
        }
        // Several files are certificates with other kinds of keys for the same names.
        String[] files = names.split(",", -1);
        String[] keys = fields.getOrDefault("ssl_key_name", "").split(",", -1);
        for (int i = 0; i < files.length; i++) {
            String key = i < keys.length ? keys[i].strip() : "";
            add(
                    entry,
                    files[i].strip(),
                    key,
                    fields.getOrDefault("dest_ip", "*").equals("*"));
        }
    }

    private void add(Entry entry, String certificate, String key, boolean general) {
        String file = path("ssl.server.cert.path", certificate);
        all.add(new Certificate(entry, file, key.isEmpty() ? file : path("ssl.server.private_key.path", key), general));
    }

    /** Without the record they lie in the configuration directory. */
    private String path(String record, String name) {
        Rec at = input.records().take(record);
        if (at != null) {
            at.entry().note("taken into account for the files of certificates");
        }
        return at == null || at.value() == null ? input.configured(name) : input.installed(at.value() + "/" + name);
    }
}
