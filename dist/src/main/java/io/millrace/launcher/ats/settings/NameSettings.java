package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.OpenSslNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * TLS settings for clients from one element of sni.yaml, converted to keys of {@code tls.certificates}. Immutable.
 *
 * @param values single values by key
 * @param lists lists of words by key
 * @param strict whether clients need a certificate. If it is true and these settings cannot be written, requests for
 *     the name must be denied
 */
public record NameSettings(Map<String, String> values, Map<String, List<String>> lists, boolean strict) {
    /** The keys of sni.yaml that are imported here. */
    private static final Set<String> KEYS = Set.of(
            "verify_client",
            "verify_client_ca_certs",
            "valid_tls_version_min_in",
            "valid_tls_version_max_in",
            "valid_tls_versions_in",
            "server_cipher_suite",
            "server_group_list",
            "server_groups_list",
            "http2",
            "disable_h2");

    /** The reader of one element. Confined to one thread. */
    private static final class Reader {
        private final ImportState state;
        private final Node item;
        private final Entry entry;
        private final Map<String, String> values = new LinkedHashMap<>();
        private final Map<String, List<String>> lists = new LinkedHashMap<>();
        private boolean strict;

        Reader(ImportState state, Node item, Entry entry) {
            this.state = state;
            this.item = item;
            this.entry = entry;
        }

        private String text(String key) {
            return Yaml.text(item, key);
        }

        NameSettings read() {
            readClientCertificates();
            readBound("valid_tls_version_min_in", "min_version");
            readBound("valid_tls_version_max_in", "max_version");
            readVersions();
            readList("server_cipher_suite", "ciphers", OpenSslNames::suites);
            readList("server_group_list", "groups", OpenSslNames::groups);
            readList("server_groups_list", "groups", OpenSslNames::groups);
            String http2 = text("http2").toUpperCase(Locale.ROOT);
            if (http2.equals("OFF") || text("disable_h2").equalsIgnoreCase("true")) {
                values.put("http2", "false");
            } else if (!http2.isEmpty()) {
                entry.note("http2: no setting is needed, because Millrace offers HTTP/2 by default");
            }
            return new NameSettings(values, lists, strict);
        }

        private void readClientCertificates() {
            String level = text("verify_client").toUpperCase(Locale.ROOT);
            boolean requestedByDefault = !state.records()
                    .value("ssl.client.certification_level", "0")
                    .equals("0");
            String ownFile = clientCaFile();
            String file = ownFile.isEmpty() ? ServerTlsImport.clientCaFile(state) : ownFile;
            strict = level.equals("STRICT");
            switch (level) {
                case "STRICT", "MODERATE" -> {
                    if (file == null) {
                        entry.notMapped("verify_client: neither verify_client_ca_certs nor ssl.CA.cert.filename has"
                                + " a file of certificate authorities");
                    } else {
                        values.put("client_certificates", strict ? "require" : "request");
                        values.put("client_ca_file", file);
                    }
                }
                case "NONE" -> {
                    if (requestedByDefault) {
                        values.put("client_certificates", "off");
                    } else {
                        entry.note("verify_client: no setting is needed, because Millrace does not ask clients for"
                                + " certificates by default");
                    }
                }
                case "" -> {
                    if (!ownFile.isEmpty() && requestedByDefault) {
                        values.put("client_ca_file", ownFile);
                    } else if (!ownFile.isEmpty()) {
                        entry.note("verify_client_ca_certs: clients are not asked for certificates");
                    }
                }
                default -> {
                    // The value may be meant to refuse clients, so the name is treated like one with STRICT.
                    strict = true;
                    entry.notMapped("verify_client: '" + level + "' is not a valid value");
                }
            }
        }

        /** Returns the file of {@code verify_client_ca_certs}; empty for none. */
        private String clientCaFile() {
            Node node = Yaml.value(item, "verify_client_ca_certs");
            if (node instanceof MappingNode) {
                if (!Yaml.text(node, "dir").isEmpty()) {
                    entry.notMapped("verify_client_ca_certs: copy the certificates of dir into the file");
                }
                String file = Yaml.text(node, "file");
                return file.isEmpty() ? "" : state.resolveInConfigDirectory(file);
            }
            String file = text("verify_client_ca_certs");
            return file.isEmpty() ? "" : state.resolveInConfigDirectory(file);
        }

        private void readBound(String key, String millraceKey) {
            String word = text(key);
            String version = OpenSslNames.version(word);
            if (version != null) {
                values.put(millraceKey, version);
            } else if (!word.isEmpty()) {
                entry.notMapped(key + ": " + ServerTlsImport.TOO_OLD);
            }
        }

        private void readVersions() {
            List<String> named = Yaml.words(Yaml.value(item, "valid_tls_versions_in"));
            if (named.isEmpty()) {
                return;
            }
            List<String> supported = named.stream()
                    .filter(word -> OpenSslNames.version(word) != null)
                    .toList();
            if (supported.size() < named.size()) {
                entry.notMapped("valid_tls_versions_in: " + ServerTlsImport.TOO_OLD);
            }
            if (supported.size() == 1) {
                String only = String.valueOf(OpenSslNames.version(supported.get(0)));
                values.put("min_version", only);
                values.put("max_version", only);
            } else if (supported.size() == named.size()) {
                entry.note("valid_tls_versions_in: TLS 1.2 and 1.3 are offered, as by default in Millrace");
            }
        }

        private void readList(
                String key, String millraceKey, Function<String, OpenSslNames.@Nullable Translation> translation) {
            String text = text(key);
            if (text.isEmpty()) {
                return;
            }
            OpenSslNames.Translation found = translation.apply(text);
            if (found == null || found.words().isEmpty()) {
                entry.notMapped(key + ": "
                        + (found == null
                                ? ServerTlsImport.noSuites("tls.certificates[].ciphers")
                                : ServerTlsImport.unsupported(found)));
                return;
            }
            lists.put(millraceKey, found.words());
            if (!found.unknown().isEmpty()) {
                entry.note(key + ": " + ServerTlsImport.unsupported(found));
            }
        }
    }

    public NameSettings {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        lists = Collections.unmodifiableMap(new LinkedHashMap<>(lists));
    }

    /** Reads the settings of an element. Adds notes about keys without an equivalent to {@code entry}. */
    public static NameSettings of(ImportState state, Node item, Entry entry) {
        return new Reader(state, item, entry).read();
    }

    /** Returns true if a key of sni.yaml is imported here. */
    public static boolean has(String key) {
        return KEYS.contains(key);
    }

    /** Returns true if there are no settings. */
    public boolean isEmpty() {
        return values.isEmpty() && lists.isEmpty();
    }

    /** Returns false if client certificates are required but there is no file of authorities to verify them. */
    public boolean isComplete() {
        return !strict || values.containsKey("client_ca_file");
    }

    /**
     * Adds a note that tells the operator which settings to write by hand.
     *
     * @param why reason why the import cannot write them
     */
    public void hint(Entry entry, String why) {
        List<String> settings = new ArrayList<>();
        // The path of the file is omitted, since the imported line contains it.
        values.forEach((key, value) -> settings.add(key.endsWith("_file") ? key : key + ": " + value));
        lists.forEach((key, words) -> settings.add(key + ": [" + String.join(", ", words) + "]"));
        if (!settings.isEmpty()) {
            entry.notMapped(why + ": write " + String.join(", ", settings)
                    + " beside the certificate of this name in tls.certificates");
        }
    }

    void write(DraftNode element) {
        values.forEach(element::put);
        lists.forEach(element::putWords);
    }
}
