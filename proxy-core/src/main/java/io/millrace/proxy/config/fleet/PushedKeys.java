package io.millrace.proxy.config.fleet;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.ListenAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which keys a pushed configuration may set. The command {@code fleet config push} sends such a configuration
 * to the nodes of a fleet. All other keys come from the local file of each node only. A test requires that each key
 * that names a file, a secret or a program is listed here as local or as pushable. Stateless.
 */
public final class PushedKeys {
    /** The reason why a key is local. */
    enum Reason {
        RUNS_CODE("runs a program of the node"),
        READS_SECRET("names a file of the node that may have a secret"),
        READS_FILE("names a file of the node"),
        WRITES_FILE("names a file or device that the node writes"),
        CREATES_SOCKET("names a socket that the node creates"),
        CONNECTS_TO_FILE("names a socket of the node, which may give rights to its clients"),
        OF_NODE("belongs to the node itself");

        private final String text;

        Reason(String text) {
            this.text = text;
        }
    }

    /** Sections that are local as a whole. */
    static final Map<String, Reason> SECTIONS = Map.of(
            "admin", Reason.OF_NODE,
            "fleet", Reason.OF_NODE,
            "extensions", Reason.RUNS_CODE,
            "alarms.exec", Reason.RUNS_CODE);

    /** Keys that are local, each with the reason. */
    static final Map<Reason, Set<String>> KEYS = Map.of(
            Reason.RUNS_CODE,
            Set.of("tls.acme.dns_hook", "worker.java_home"),
            Reason.READS_SECRET,
            Set.of(
                    "basic_auth.file",
                    "signed_urls.keys",
                    "jwt.keys_file",
                    "listen[].tls.certificate",
                    "listen[].tls.key",
                    "tls.certificates[].certificate",
                    "tls.certificates[].key",
                    "tls.certificates[].directory",
                    "tls.ticket_keys_file",
                    "tls.acme.issuers[].eab_key_file",
                    "origin.tls.certificate",
                    "origin.tls.key",
                    "mirror.tls.certificate",
                    "mirror.tls.key",
                    "origins[].tls.certificate",
                    "origins[].tls.key",
                    "alarms.syslog.certificate",
                    "alarms.syslog.key",
                    "log.access[].syslog.certificate",
                    "log.access[].syslog.key",
                    "traces.headers_file",
                    "traces.tls.certificate",
                    "traces.tls.key"),
            Reason.READS_FILE,
            Set.of(
                    "include",
                    "error_pages[].file",
                    "dns.hosts_file",
                    "geo.database",
                    "geo.asn_database",
                    "tls.client_ca_file",
                    "tls.client_revocation_file",
                    "listen[].tls.client_ca_file",
                    "listen[].tls.client_revocation_file",
                    "tls.certificates[].client_ca_file",
                    "tls.certificates[].client_revocation_file",
                    "tls.acme.ca_file",
                    "origin.tls.ca_file",
                    "mirror.tls.ca_file",
                    "origins[].tls.ca_file",
                    "alarms.syslog.ca_file",
                    "log.access[].syslog.ca_file",
                    "traces.tls.ca_file"),
            Reason.WRITES_FILE,
            Set.of(
                    "storage[].path",
                    "storage[].index_path",
                    "log.access.path",
                    "log.access[].path",
                    "tls.acme.storage"),
            Reason.CONNECTS_TO_FILE,
            Set.of("remap[].unix_socket", "origins[].hosts[].unix_socket", "log.access[].journald.socket"),
            Reason.OF_NODE,
            Set.of("file_mode", "listen[].socket_mode", "listen[].socket_owner"));

    /** Keys that may be pushed, although their names sound like files, secrets or programs. */
    static final Set<String> PUSHABLE = Set.of("tls.acme.issuers[].directory");

    private static final List<String> SECTION_PATHS = List.copyOf(SECTIONS.keySet());

    private PushedKeys() {}

    /** Returns the problem if a pushed configuration sets a key; null if it may set it. */
    public static @Nullable String refusal(ConfigKey<?> key) {
        Reason reason = reason(key);
        return reason == null ? null : text(reason);
    }

    /** Returns the problem if a pushed configuration has a section; null if the section may have permitted keys. */
    public static @Nullable String refusalOfSection(String path) {
        Reason reason = reasonOfSection(path);
        return reason == null ? null : text(reason);
    }

    /**
     * Returns why a pushed configuration must not set a permitted key to this value; null if the value is permitted.
     */
    public static @Nullable String refusalOfValue(Object value) {
        return value instanceof ListenAddress address && address.socket() != null ? text(Reason.CREATES_SOCKET) : null;
    }

    private static String text(Reason reason) {
        return "cannot be pushed, because it " + reason.text + "; set it in the local file";
    }

    static @Nullable Reason reason(ConfigKey<?> key) {
        Reason ofSection = reasonOfSection(key.path());
        if (ofSection != null) {
            return ofSection;
        }
        for (Map.Entry<Reason, Set<String>> local : KEYS.entrySet()) {
            if (local.getValue().contains(key.path())) {
                return local.getKey();
            }
        }
        // A key whose value is a file is local, even if KEYS does not list it.
        return isFile(key) ? Reason.READS_FILE : null;
    }

    /**
     * Returns true if a path is that of the section, or of a key in the section or in an element of a list of sections.
     */
    static boolean isIn(String path, String section) {
        return path.equals(section) || path.startsWith(section + ".") || path.startsWith(section + "[]");
    }

    /** Returns true if the value of a key is a file. */
    static boolean isFile(ConfigKey<?> key) {
        return key.type() == ValueType.PATH || key.type() == ValueType.FILE || key.type() == ValueType.JAR;
    }

    private static @Nullable Reason reasonOfSection(String path) {
        for (String section : SECTION_PATHS) {
            if (isIn(path, section)) {
                return SECTIONS.get(section);
            }
        }
        return null;
    }
}
