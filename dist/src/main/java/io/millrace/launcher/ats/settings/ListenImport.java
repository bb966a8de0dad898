package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The importer of listening addresses, from Traffic Server's record server_ports and its predecessors. Confined to one
 * thread.
 */
public final class ListenImport {
    /** A port of server_ports. */
    private static final class Port {
        private int number;
        private boolean v6;
        private @Nullable String ip;
        /** Path of a Unix socket; null for a TCP port. */
        private @Nullable String socket;

        private @Nullable String socketMode;
        private @Nullable String socketUser;
        private @Nullable String socketGroup;
        private boolean tls;
        /** Value of {@code listen[].transparent}; null for none. */
        private @Nullable String transparent;

        private boolean proxyProtocol;
        /** True if the list of protocols contains HTTP/2. */
        private boolean http2;
        /** True if the port has a list of protocols. */
        private boolean protocolsListed;
        /** True if Traffic Server uses the address in a PROXY header only for logs. */
        private boolean onlyLogged;

        private final List<String> unsupportedOptions = new ArrayList<>();
        private final List<String> notes = new ArrayList<>();
        /** Reason why the port cannot be imported; null if it can. */
        private @Nullable String obstacle;
    }

    private final ImportState state;
    private final CertificateImport certificates;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public ListenImport(ImportState state, CertificateImport certificates) {
        this.state = state;
        this.certificates = certificates;
    }

    /** Imports the records about ports. */
    public void read() {
        Rec ports = state.records().getAndMarkProcessed("http.server_ports");
        List<Rec> old = new ArrayList<>();
        for (String name :
                List.of("http.server_port", "http.server_port_attr", "http.server_other_ports", "ssl.server_port")) {
            Rec rec = state.records().getAndMarkProcessed(name);
            if (rec != null) {
                old.add(rec);
            }
        }
        Rec ip = state.records().getAndMarkProcessed("proxy.local.incoming_ip_to_bind");
        if (ports != null && ports.value() != null) {
            old.forEach(rec -> rec.entry().note("the record is not used: http.server_ports takes precedence"));
            readPorts(ports, ip);
        } else if (!old.isEmpty()) {
            readOld(old, ip);
        } else if (ip != null) {
            writeListener(portOf(8080, address(ip, false)), ip.entry());
        }
        Rec secure = state.records().getAndMarkProcessed("ssl.enabled");
        if (secure != null) {
            secure.entry().note("the record is imported as tls of an address in listen");
        }
        if (state.draft().elements("listen").isEmpty()) {
            state.draft()
                    .root()
                    .addElement("listen")
                    .put("address", ":8080")
                    .remark("Traffic Server's default (proxy.config.http.server_ports)");
        }
    }

    private static Port portOf(int number, @Nullable String ip) {
        Port port = new Port();
        port.number = number;
        port.ip = ip;
        return port;
    }

    /**
     * Returns the IPv6 or the IPv4 address of a record that can contain both. Returns null if it contains no such
     * address.
     */
    private static @Nullable String address(@Nullable Rec rec, boolean v6) {
        for (String each : rec == null ? List.<String>of() : RecordTable.split(rec.text())) {
            String bare = each.replace("[", "").replace("]", "");
            if (bare.contains(":") == v6) {
                return bare;
            }
        }
        return null;
    }

    private void readPorts(Rec rec, @Nullable Rec ip) {
        List<Port> ports = new ArrayList<>();
        for (String descriptor : rec.text().strip().split("[\\s,]+", -1)) {
            if (!descriptor.isEmpty()) {
                Port port = parse(descriptor, rec);
                if (port != null) {
                    port.ip = port.ip == null ? address(ip, port.v6) : port.ip;
                    ports.add(port);
                }
            }
        }
        if (ip != null) {
            ip.entry().note("the importer uses the record for the addresses of listen");
        }
        for (Port port : ports) {
            if (!isCovered(port, ports)) {
                setFamilyAddress(port, ports);
                writeListener(port, rec.entry());
            }
        }
    }

    /** Returns true if an IPv6 port is also listed for IPv4, so that one listening address of Millrace covers both. */
    private static boolean isCovered(Port port, List<Port> all) {
        return port.v6
                && port.socket == null
                && port.ip == null
                && all.stream().anyMatch(other -> !other.v6 && other.ip == null && other.number == port.number);
    }

    /**
     * Sets the wildcard address of an IP family for a port without an address. A port that is listed for both families
     * keeps no address, which means all addresses.
     */
    private static void setFamilyAddress(Port port, List<Port> all) {
        boolean hasBothFamilies =
                all.stream().anyMatch(other -> other.v6 && other.ip == null && other.number == port.number);
        if (port.ip == null && !port.v6 && !hasBothFamilies) {
            port.ip = "0.0.0.0";
        } else if (port.ip == null && port.v6) {
            port.ip = "::";
        }
    }

    private void writeListener(Port port, Entry entry) {
        port.unsupportedOptions.forEach(entry::notMapped);
        port.notes.forEach(entry::note);
        if (port.obstacle != null) {
            entry.notMapped(port.obstacle);
            return;
        }
        String address = port.ip == null ? "" : port.ip.contains(":") ? "[" + port.ip + "]" : port.ip;
        String whole = port.socket == null ? address + ":" + port.number : "unix:" + port.socket;
        if (port.tls && ServerTlsImport.isCertificateRequired(state) && ServerTlsImport.clientCaFile(state) == null) {
            entry.notMapped(
                    whole
                            + " requires client certificates, but ssl.CA.cert.filename has no file of certificate authorities, so the port is not imported");
            return;
        }
        if (port.tls && !certificates.isPresent()) {
            entry.notMapped(whole
                    + " uses TLS, but no certificate is set: add the address to listen with tls: {certificate, key}");
            return;
        }
        DraftNode node = state.draft().addElement("listen", entry);
        node.put("address", whole);
        writeSocketRights(port, node);
        if (port.transparent != null) {
            node.put("transparent", port.transparent);
            entry.note("'" + whole + "' is transparent, which needs CAP_NET_ADMIN");
        }
        if (port.onlyLogged && !state.records().isSet("http.proxy_protocol_allowlist")) {
            entry.notMapped(
                    "'pp' of " + whole
                            + ": PROXY headers from any address would be trusted; name the load balancers in access.proxy_protocol_allow, and set proxy_protocol: accept");
        } else if (port.proxyProtocol) {
            node.put("proxy_protocol", "accept");
            allowProxies(entry);
        }
        if (port.tls) {
            certificates.enableTls(node);
        }
        if (port.protocolsListed && port.tls != port.http2) {
            node.put(port.tls ? "http2" : "h2c", Boolean.toString(port.http2));
        }
    }

    /** Writes mode and owner of a Unix socket. Traffic Server's default mode is 0666. */
    private static void writeSocketRights(Port port, DraftNode node) {
        if (port.socket == null) {
            return;
        }
        String mode = port.socketMode == null ? "0666" : port.socketMode;
        node.put("socket_mode", mode.startsWith("0") ? mode : "0" + mode);
        if (port.socketUser != null || port.socketGroup != null) {
            node.put(
                    "socket_owner",
                    (port.socketUser == null ? "" : port.socketUser)
                            + (port.socketGroup == null ? "" : ":" + port.socketGroup));
        }
    }

    /** Allows PROXY headers of all senders if there is no list of proxies. Traffic Server does the same. */
    private void allowProxies(Entry entry) {
        if (!state.records().isSet("http.proxy_protocol_allowlist")
                && state.draft().root().find("access.proxy_protocol_allow") == null) {
            state.draft()
                    .root()
                    .putWords("access.proxy_protocol_allow", List.of("all"))
                    .from(entry)
                    .remark("Traffic Server does the same without proxy_protocol_allowlist; name only your load"
                            + " balancers, because a trusted sender can claim any client address");
        }
    }

    private @Nullable Port parse(String descriptor, Rec rec) {
        Port port = new Port();
        String unread = descriptor;
        while (!unread.isEmpty()) {
            int end = endOf(unread);
            readOption(unread.substring(0, end), port);
            unread = end < unread.length() ? unread.substring(end + 1) : "";
        }
        if (port.number == 0 && port.socket == null && port.obstacle == null) {
            rec.file().problem(rec.entry(), "http.server_ports: '" + descriptor + "' has no port");
            return null;
        }
        return port;
    }

    /** Returns the end of an option. A colon ends it, except in brackets. */
    private static int endOf(String text) {
        int depth = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            depth += c == '[' ? 1 : c == ']' ? -1 : 0;
            if (c == ':' && depth == 0) {
                return i;
            }
        }
        return text.length();
    }

    private static void readOption(String option, Port port) {
        String word = option.toLowerCase(Locale.ROOT);
        int equals = option.indexOf('=');
        if (word.matches("\\d+")) {
            port.number = Integer.parseInt(word.length() > 5 ? "0" : word);
        } else if (word.startsWith("ip-in=")) {
            port.ip = option.substring(equals + 1).replace("[", "").replace("]", "");
            port.v6 = port.ip.contains(":");
        } else if (word.equals("ipv6") || word.equals("ipv4")) {
            port.v6 = word.equals("ipv6");
        } else if (word.equals("ssl")) {
            port.tls = true;
        } else if (word.equals("pp") || word.equals("pp-clnt")) {
            port.proxyProtocol = true;
            port.onlyLogged = word.equals("pp");
            if (port.onlyLogged) {
                port.notes.add("a PROXY header determines the client address, also for logs and filters");
            }
        } else if (word.startsWith("proto=")) {
            readProtocols(word.substring(equals + 1), port);
        } else if (word.startsWith("/")) {
            port.socket = option;
        } else if (word.startsWith("uds-perm=")) {
            port.socketMode = option.substring(equals + 1);
        } else if (word.startsWith("uds-user=")) {
            port.socketUser = option.substring(equals + 1);
        } else if (word.startsWith("uds-group=")) {
            port.socketGroup = option.substring(equals + 1);
        } else if (word.equals("tr-in") || word.equals("tr-out") || word.equals("tr-full")) {
            boolean isOtherPart = port.transparent != null && !port.transparent.equals(word.substring(3));
            port.transparent = isOtherPart || word.equals("tr-full") ? "both" : word.substring(3);
        } else if (word.equals("tr-pass")) {
            port.unsupportedOptions.add("'tr-pass': connections that are not HTTP get 400");
        } else if (word.equals("blind") || word.equals("quic")) {
            port.obstacle = "'" + option + "': Millrace has no "
                    + (word.equals("quic") ? "HTTP/3" : "ports only for CONNECT") + ", so the port is not imported";
        } else {
            port.unsupportedOptions.add("'" + option + "' of port " + port.number + " has no equivalent");
        }
    }

    private static void readProtocols(String list, Port port) {
        List<String> supported = new ArrayList<>();
        for (String protocol : list.split(";", -1)) {
            if (protocol.equals("http2") || protocol.equals("http")) {
                supported.add(protocol);
            } else if (!protocol.isEmpty()) {
                port.unsupportedOptions.add("'proto=" + list + "': Millrace has no " + protocol);
            }
        }
        port.http2 = supported.contains("http2");
        port.protocolsListed = true;
        if (!supported.contains("http")) {
            port.notes.add("HTTP/1.1 is enabled at every address");
        }
    }

    private void readOld(List<Rec> old, @Nullable Rec ip) {
        for (Rec rec : old) {
            try {
                readOldRecord(rec, ip);
            } catch (BadValueException e) {
                rec.file().problem(rec.entry(), rec.name() + ": " + e.getMessage());
            }
        }
        if (ip != null) {
            ip.entry().note("the importer uses the record for the addresses of listen");
        }
    }

    private void readOldRecord(Rec rec, @Nullable Rec ip) throws BadValueException {
        switch (rec.name()) {
            case "http.server_port" -> writeOldListener(rec, ip, (int) Quantity.integer(rec.text()), false);
            case "ssl.server_port" -> {
                if (state.records().isOn("ssl.enabled", false)) {
                    writeOldListener(rec, ip, (int) Quantity.integer(rec.text()), true);
                } else {
                    rec.entry().note("ssl.enabled is off");
                }
            }
            case "http.server_other_ports" -> {
                for (String each : RecordTable.split(rec.text())) {
                    String number = each.contains(":") ? each.substring(0, each.indexOf(':')) : each;
                    writeOldListener(rec, ip, (int) Quantity.integer(number), false);
                }
            }
            default -> {
                if (rec.text().isEmpty() || rec.text().equalsIgnoreCase("X")) {
                    rec.entry().note("the value means an ordinary port, as in listen");
                } else {
                    rec.entry().notMapped("only the attribute X, an ordinary port, has an equivalent");
                }
            }
        }
    }

    private void writeOldListener(Rec rec, @Nullable Rec ip, int number, boolean tls) {
        Port port = portOf(number, address(ip, false));
        port.tls = tls;
        writeListener(port, rec.entry());
        if (ip != null && port.ip != null) {
            state.draft().elements("listen").forEach(node -> node.from(ip.entry()));
        }
    }
}
