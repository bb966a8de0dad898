package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.OpenSslNames;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The importer of TLS settings for clients from Traffic Server's {@code ssl.*} records, which apply to all server
 * names. Confined to one thread.
 */
public final class ServerTlsImport {
    private static final String LEVEL = "ssl.client.certification_level";
    private static final String AUTHORITIES = "ssl.CA.cert.filename";
    private static final String AUTHORITIES_PATH = "ssl.CA.cert.path";
    private static final String OLDEST = "ssl.server.version.min";
    private static final String NEWEST = "ssl.server.version.max";
    private static final String SUITES = "ssl.server.cipher_suite";
    private static final String GROUPS = "ssl.server.groups_list";
    private static final String TICKET_KEYS = "ssl.server.ticket_key.filename";
    private static final String STAPLING = "ssl.ocsp.enabled";
    private static final List<String> TLS_1_2 = List.of("ssl.TLSv1_2", "ssl.TLSv1_2.enabled");
    private static final List<String> TLS_1_3 = List.of("ssl.TLSv1_3", "ssl.TLSv1_3.enabled");

    /** The note for versions that are too old. */
    static final String TOO_OLD = "TLS 1.2 is the oldest version that Millrace supports";

    private final ImportState state;
    private final Draft draft;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public ServerTlsImport(ImportState state) {
        this.state = state;
        draft = state.draft();
    }

    /** Returns the file with the authorities of client certificates; null if there is none. */
    static @Nullable String clientCaFile(ImportState state) {
        String name = state.records().value(AUTHORITIES, "");
        if (name.isEmpty()) {
            return null;
        }
        String directory = state.records().value(AUTHORITIES_PATH, "");
        return directory.isEmpty()
                ? state.resolveInConfigDirectory(name)
                : state.resolveInInstallPrefix(directory + "/" + name);
    }

    /** Returns true if clients without a certificate are refused. */
    static boolean isCertificateRequired(ImportState state) {
        return state.records().value(LEVEL, "0").equals("2");
    }

    /** Writes the settings if an address has TLS. */
    public void read() {
        if (draft.elements("listen").stream().noneMatch(listener -> listener.find("tls") != null)) {
            noteUnused();
            return;
        }
        importVersions();
        ifSet(SUITES, rec -> writeSuites(rec.text(), "tls.ciphers", rec.entry()));
        ifSet(GROUPS, rec -> writeGroups(rec.text(), rec.entry()));
        importClientCertificates();
        ifSet(TICKET_KEYS, rec -> {
            String directory = state.records().value("ssl.server.cert.path", "");
            draft.set(
                    "tls.ticket_keys_file",
                    directory.isEmpty()
                            ? state.resolveInConfigDirectory(rec.text())
                            : state.resolveInInstallPrefix(directory + "/" + rec.text()),
                    rec.entry());
        });
        ifSet(
                STAPLING,
                rec -> draft.set(
                        "tls.ocsp_stapling", Boolean.toString(Quantity.integer(rec.text()) != 0), rec.entry()));
        if (!state.records().isSet(STAPLING)) {
            draft.setDefault("tls.ocsp_stapling", "false", "proxy.config." + STAPLING);
        }
    }

    private void noteUnused() {
        for (String name :
                List.of(OLDEST, NEWEST, SUITES, GROUPS, AUTHORITIES, AUTHORITIES_PATH, TICKET_KEYS, STAPLING)) {
            ifSet(name, rec -> rec.entry().note("no address of listen has tls"));
        }
    }

    /** Imports the TLS versions. If minimum and maximum are set, the records for single versions have no effect. */
    private void importVersions() {
        long[] bounds = {-1, -1};
        ifSet(OLDEST, rec -> bounds[0] = Quantity.integer(rec.text()));
        ifSet(NEWEST, rec -> bounds[1] = Quantity.integer(rec.text()));
        boolean bounded = bounds[0] >= 0 && bounds[1] >= 0;
        importBound(OLDEST, "tls.min_version", bounds[0], bounded);
        importBound(NEWEST, "tls.max_version", bounds[1], bounded);
        if (bounded) {
            for (String name : List.of("ssl.TLSv1", "ssl.TLSv1_1", "ssl.TLSv1.enabled", "ssl.TLSv1_1.enabled")) {
                ifSet(name, rec -> rec.entry().note(OLDEST + " and " + NEWEST + " take precedence"));
            }
        }
        boolean tls12 = isOn(TLS_1_2);
        boolean tls13 = isOn(TLS_1_3);
        importSingleVersion(TLS_1_2, bounded, tls12, "tls.min_version", tls13 ? "TLSv1.3" : null);
        importSingleVersion(TLS_1_3, bounded, tls13, "tls.max_version", tls12 ? "TLSv1.2" : null);
    }

    private void importBound(String record, String key, long version, boolean bounded) {
        ifSet(record, rec -> {
            String word = OpenSslNames.version(version);
            if (!bounded) {
                rec.entry().note("the record has an effect only if both bounds are set");
            } else if (word == null) {
                rec.entry().notMapped(TOO_OLD);
            } else {
                draft.set(key, word, rec.entry());
            }
        });
    }

    private boolean isOn(List<String> records) {
        return records.stream().allMatch(name -> state.records().isOn(name, true));
    }

    /** @param other the version that remains if this one is off; null if none remains */
    private void importSingleVersion(
            List<String> records, boolean bounded, boolean on, String key, @Nullable String other) {
        for (String name : records) {
            ifSet(name, rec -> {
                if (bounded) {
                    rec.entry().note(OLDEST + " and " + NEWEST + " take precedence");
                } else if (on) {
                    rec.entry().note("Millrace always behaves this way");
                } else if (other == null) {
                    rec.entry().notMapped("no version would remain: Millrace supports TLS 1.2 and 1.3");
                } else {
                    draft.set(key, other, rec.entry());
                }
            });
        }
    }

    private void writeSuites(String list, String key, Entry entry) {
        OpenSslNames.Translation found = OpenSslNames.suites(list);
        if (found == null || found.words().isEmpty()) {
            entry.notMapped(noSuites(key));
            return;
        }
        draft.set(key, found.words(), entry);
        if (!found.unknown().isEmpty()) {
            entry.note(unsupported(found));
        }
    }

    /** Returns the note for a list of cipher suites that cannot be imported. */
    static String noSuites(String key) {
        return "sets such as HIGH depend on the version of OpenSSL; list cipher suites of BoringSSL in " + key;
    }

    /** Returns the note about names that are missing in an imported list. */
    static String unsupported(OpenSslNames.Translation found) {
        return "BoringSSL does not support " + String.join(", ", found.unknown());
    }

    private void writeGroups(String list, Entry entry) {
        OpenSslNames.Translation found = OpenSslNames.groups(list);
        if (found.words().isEmpty()) {
            entry.notMapped(unsupported(found));
            return;
        }
        draft.set("tls.groups", found.words(), entry);
        if (!found.unknown().isEmpty()) {
            entry.note(unsupported(found));
        }
    }

    private void importClientCertificates() {
        String file = clientCaFile(state);
        boolean[] requestsCertificates = new boolean[1];
        ifSet(LEVEL, rec -> {
            long level = Quantity.integer(rec.text());
            requestsCertificates[0] = level == 1 || level == 2;
            if (requestsCertificates[0] && file == null) {
                rec.entry().notMapped("clients are not asked for certificates: " + AUTHORITIES + " has no file");
            } else {
                draft.set(
                        "tls.client_certificates",
                        level == 2 ? "require" : requestsCertificates[0] ? "request" : "off",
                        rec.entry());
            }
        });
        ifSet(AUTHORITIES, rec -> {
            if (requestsCertificates[0] && file != null) {
                draft.set("tls.client_ca_file", file, rec.entry());
            } else {
                rec.entry().note("the record has an effect only if clients are asked for certificates");
            }
        });
        ifSet(AUTHORITIES_PATH, rec -> {
            if (file == null && requestsCertificates[0]) {
                rec.entry().notMapped("copy the certificates of the directory into one file: tls.client_ca_file");
            } else {
                rec.entry().note("the importer uses the record for " + AUTHORITIES);
            }
        });
    }

    /** Processes the value of a record. */
    private interface RecordReader {
        void read(Rec rec) throws BadValueException;
    }

    /** Processes a record that has a value. Does not mark a record without a value as processed. */
    private void ifSet(String name, RecordReader reading) {
        Rec rec = state.records().isSet(name) ? state.records().getAndMarkProcessed(name) : null;
        if (rec == null) {
            return;
        }
        try {
            reading.read(rec);
        } catch (BadValueException e) {
            rec.file().problem(rec.entry(), name + ": " + e.getMessage());
        }
    }
}
