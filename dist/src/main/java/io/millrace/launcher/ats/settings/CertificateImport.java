package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/**
 * The importer of Traffic Server's certificates, from ssl_multicert.config or ssl_multicert.yaml. Confined to one
 * thread.
 */
public final class CertificateImport {
    /**
     * A certificate.
     *
     * @param general whether the certificate is for clients that send no server name
     * @param names the names for which the certificate is used; empty for the names in the file
     */
    record Certificate(Entry entry, String file, String key, boolean general, List<String> names) {
        /** Writes the certificate into an element of {@code tls.certificates}. */
        void write(DraftNode element) {
            element.put("certificate", file);
            if (!key.equals(file)) {
                element.put("key", key);
            }
        }
    }

    /** Fields of a line that have no equivalent, with the notes for the report. */
    private static final Map<String, String> NO_EQUIVALENT = Map.of(
            "ssl_ca_name", "append the chain to the file of the certificate",
            "ssl_ocsp_name", "Millrace queries the responder named in the certificate: tls.ocsp_stapling",
            "ssl_key_dialog", "encrypted keys are not supported; remove the passphrase with: openssl pkey",
            "ticket_key_name", "set tls.ticket_keys_file, which applies to all certificates",
            "action", "connections are not forwarded without TLS termination; use a TCP proxy in front");

    private static final Set<String> KNOWN =
            Set.of("dest_ip", "dest_fqdn", "ssl_cert_name", "ssl_key_name", "ssl_ticket_enabled", "ssl_ticket_number");

    private final ImportState state;
    private final List<Certificate> all = new ArrayList<>();
    /** Elements of {@code listen} that contain the only certificate. */
    private final List<DraftNode> listenersWithCertificate = new ArrayList<>();

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public CertificateImport(ImportState state) {
        this.state = state;
    }

    /** Imports the file, if it exists. */
    public void read() {
        String named = state.fileNameOf("ssl.server.multicert.filename", "ssl_multicert.config");
        boolean hasOtherName = !named.equals("ssl_multicert.config");
        SourceFile yaml = state.read(hasOtherName && named.endsWith(".yaml") ? named : "ssl_multicert.yaml");
        SourceFile lines = state.read(hasOtherName && !named.endsWith(".yaml") ? named : "ssl_multicert.config");
        if (yaml != null) {
            readYaml(yaml);
        }
        if (lines != null) {
            readLines(lines);
        }
        readRecords();
        // The first certificate is the default for clients that send no server name.
        all.sort(Comparator.comparing(each -> !each.general));
    }

    boolean isPresent() {
        return !all.isEmpty();
    }

    /** All certificates, the general ones first. */
    List<Certificate> all() {
        return all;
    }

    /**
     * Enables TLS at a listening address. A single certificate without listed names is written into this element of
     * {@code listen}; other certificates are written into {@code tls.certificates}.
     */
    void enableTls(DraftNode listener) {
        if (all.size() > 1 || all.stream().anyMatch(each -> !each.names.isEmpty())) {
            listener.put("tls.enabled", "true");
            writeAll();
        } else if (!all.isEmpty()) {
            Certificate only = all.get(0);
            listener.put("tls.certificate", only.file).from(only.entry);
            listener.put("tls.key", only.key);
            listenersWithCertificate.add(listener);
        }
    }

    /**
     * Moves the single certificate from listening addresses to {@code tls.certificates}. Only the elements there can
     * have settings for names.
     */
    void moveToSharedList() {
        for (DraftNode listener : listenersWithCertificate) {
            DraftNode tls = listener.find("tls");
            if (tls != null) {
                tls.clear("certificate");
                tls.clear("key");
                tls.put("enabled", "true");
            }
        }
        listenersWithCertificate.clear();
        writeAll();
    }

    private void writeAll() {
        if (!state.draft().elements("tls.certificates").isEmpty()) {
            return;
        }
        for (Certificate each : all) {
            DraftNode element = state.draft().addElement("tls.certificates", each.entry);
            each.write(element);
            if (!each.names.isEmpty()) {
                element.putWords("names", each.names);
            }
            if (!each.general && each.names.isEmpty()) {
                each.entry.note("dest_ip: certificates are chosen by the requested name, not by the address");
            }
        }
    }

    /** Adds a note to the certificates if no address has TLS. */
    public void finish() {
        if (state.draft().elements("listen").stream().noneMatch(node -> node.find("tls") != null)) {
            all.forEach(each -> each.entry.note("the certificate is not needed, because no port has ssl"));
        }
    }

    private void readRecords() {
        Rec certificate = state.records().getAndMarkProcessed("ssl.server.cert.filename");
        Rec key = state.records().getAndMarkProcessed("ssl.server.private_key.filename");
        if (certificate != null && certificate.value() != null) {
            add(certificate.entry(), certificate.value(), key == null ? "" : key.text(), true, List.of());
            if (key != null) {
                key.entry()
                        .note("the importer uses the record for the certificate of "
                                + certificate.entry().place());
            }
        } else if (key != null) {
            key.entry().note("the matching certificate is not set");
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
        String certificates = fields.getOrDefault("ssl_cert_name", "");
        if (certificates.isEmpty()) {
            entry.notMapped("the line has no certificate");
            return;
        }
        for (String field : fields.keySet().stream().sorted().toList()) {
            String instead = NO_EQUIVALENT.get(field);
            if (instead != null) {
                entry.notMapped(field + ": " + instead);
            } else if (!KNOWN.contains(field)) {
                entry.notMapped(field + " is not understood");
            }
        }
        if (fields.getOrDefault("ssl_ticket_enabled", "1").equals("0")) {
            entry.notMapped("ssl_ticket_enabled: session tickets are issued for all names");
        } else if (fields.containsKey("ssl_ticket_enabled") || fields.containsKey("ssl_ticket_number")) {
            entry.note("ssl_ticket_enabled, ssl_ticket_number: session tickets use the settings of BoringSSL");
        }
        String names = fields.getOrDefault("dest_fqdn", "").strip();
        // A line may have several files: certificates with different key types for the same names.
        String[] files = certificates.split(",", -1);
        String[] keys = fields.getOrDefault("ssl_key_name", "").split(",", -1);
        for (int i = 0; i < files.length; i++) {
            String key = i < keys.length ? keys[i].strip() : "";
            boolean general = fields.getOrDefault("dest_ip", "*").equals("*") && names.isEmpty();
            add(
                    entry,
                    files[i].strip(),
                    key,
                    general,
                    names.isEmpty() ? List.of() : List.of(names.split("[,\\s]+", -1)));
        }
    }

    private void add(Entry entry, String certificate, String key, boolean general, List<String> names) {
        String file = path("ssl.server.cert.path", certificate);
        String keyFile = key.isEmpty() ? file : path("ssl.server.private_key.path", key);
        all.add(new Certificate(entry, file, keyFile, general, names));
    }

    /** Returns the path of a file. Without the record, the file is in the configuration directory. */
    private String path(String record, String name) {
        Rec directoryRecord = state.records().getAndMarkProcessed(record);
        if (directoryRecord != null) {
            directoryRecord.entry().note("the importer uses the record for the files of certificates");
        }
        return directoryRecord == null || directoryRecord.value() == null
                ? state.resolveInConfigDirectory(name)
                : state.resolveInInstallPrefix(directoryRecord.value() + "/" + name);
    }
}
