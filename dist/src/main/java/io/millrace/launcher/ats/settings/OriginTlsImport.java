package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The importer of TLS settings for connections to origins, from {@code ssl.client.*} records and sni.yaml. Confined to
 * one thread.
 */
public final class OriginTlsImport {
    private static final String POLICY = "ssl.client.verify.server.policy";
    private static final String PROPERTIES = "ssl.client.verify.server.properties";
    private static final String CA = "ssl.client.CA.cert.filename";
    private static final String CERTIFICATE = "ssl.client.cert.filename";
    private static final String KEY = "ssl.client.private_key.filename";
    private static final String SNI = "ssl.client.sni_policy";
    private static final String PROTOCOLS = "ssl.client.alpn_protocols";

    private final ImportState state;

    /** Creates an import into the draft of {@code state}. */
    public OriginTlsImport(ImportState state) {
        this.state = state;
    }

    /**
     * Imports the records for all origins. Does not mark unsupported records as processed, so {@link RecordNotes}
     * explains them.
     */
    void readRecords() {
        importVerification();
        importFile(CA, "ssl.client.CA.cert.path", "origin.tls.ca_file");
        importFile(CERTIFICATE, "ssl.client.cert.path", "origin.tls.certificate");
        if (state.records().value(CERTIFICATE, "").isEmpty()) {
            addNote(KEY, "the matching certificate is not set");
        } else {
            importFile(KEY, "ssl.client.private_key.path", "origin.tls.key");
        }
        String sni = sniWord(state.records().value(SNI, ""));
        Rec rec = sni == null ? null : state.records().getAndMarkProcessed(SNI);
        if (sni != null && rec != null) {
            state.draft().set("origin.tls.sni", sni, rec.entry());
        }
        importProtocols();
    }

    /** Returns the value of {@code origin.tls.sni}; null for policies without an equivalent. */
    public static @Nullable String sniWord(String policy) {
        return switch (policy.toLowerCase(Locale.ROOT)) {
            case "remap" -> "origin";
            case "host" -> "host";
            default -> null;
        };
    }

    private void importProtocols() {
        if (!state.records().isSet(PROTOCOLS)) {
            return;
        }
        Rec rec = state.records().getAndMarkProcessed(PROTOCOLS);
        if (rec != null) {
            boolean http2 = List.of(rec.text().split("[,\\s]+", -1)).contains("h2");
            state.draft().set("origin.http2", http2 ? "alpn" : "off", rec.entry());
        }
    }

    private void importVerification() {
        String policy = state.records().value(POLICY, "");
        String properties = state.records().value(PROPERTIES, "");
        String word = policy.isEmpty() && properties.isEmpty() ? null : verifyWord(policy, properties);
        if (word == null) {
            return;
        }
        for (String name : List.of(POLICY, PROPERTIES)) {
            Rec rec = state.records().getAndMarkProcessed(name);
            if (rec != null && rec.value() != null) {
                state.draft().set("origin.tls.verify", word, rec.entry());
            }
        }
    }

    private void importFile(String record, String pathRecord, String key) {
        if (state.records().value(record, "").isEmpty()) {
            return;
        }
        String directory = state.records().value(pathRecord, "");
        Rec rec = state.records().getAndMarkProcessed(record);
        if (rec == null || rec.value() == null) {
            return;
        }
        addNote(pathRecord, "the importer uses the record for " + key);
        String name = rec.value();
        state.draft()
                .set(
                        key,
                        directory.isEmpty()
                                ? state.resolveInConfigDirectory(name)
                                : state.resolveInInstallPrefix(directory + "/" + name),
                        rec.entry());
    }

    private void addNote(String record, String text) {
        Rec rec = state.records().getAndMarkProcessed(record);
        if (rec != null) {
            rec.entry().note(text);
        }
    }

    /**
     * Returns the value of {@code origin.tls.verify}; null for unknown words.
     *
     * @param policy effect of a failed verification; empty for the default of Traffic Server
     * @param properties the verified properties; empty for all
     */
    public static @Nullable String verifyWord(String policy, String properties) {
        String verified =
                switch (properties.toUpperCase(Locale.ROOT)) {
                    case "", "ALL" -> "on";
                    case "NONE" -> "off";
                    case "NAME" -> "name";
                    case "SIGNATURE" -> "chain";
                    default -> "";
                };
        return switch (policy.toUpperCase(Locale.ROOT)) {
            case "DISABLED" -> "off";
            case "ENFORCED" -> verified.isEmpty() ? null : verified;
            case "", "PERMISSIVE" -> verified.equals("off") ? "off" : verified.isEmpty() ? null : "warn";
            default -> null;
        };
    }

    /** Writes the settings of an origin name in sni.yaml into a rule for that origin. */
    public void apply(Map<String, String> settings, DraftNode rule, Entry from) {
        String policy =
                settings.getOrDefault("verify_server_policy", state.records().value(POLICY, ""));
        String properties = settings.getOrDefault(
                "verify_server_properties", state.records().value(PROPERTIES, ""));
        String word = verifyWord(policy, properties);
        boolean isSet =
                settings.containsKey("verify_server_policy") || settings.containsKey("verify_server_properties");
        if (isSet && word != null) {
            rule.put("origin.tls.verify", word).from(from);
        }
        String certificate = settings.getOrDefault("client_cert", "");
        if (!certificate.isEmpty()) {
            rule.put("origin.tls.certificate", path("ssl.client.cert.path", certificate))
                    .from(from);
            String key = settings.getOrDefault("client_key", "");
            if (!key.isEmpty()) {
                rule.put("origin.tls.key", path("ssl.client.private_key.path", key))
                        .from(from);
            }
        }
    }

    private String path(String pathRecord, String name) {
        String directory = state.records().value(pathRecord, "");
        return directory.isEmpty()
                ? state.resolveInConfigDirectory(name)
                : state.resolveInInstallPrefix(directory + "/" + name);
    }
}
