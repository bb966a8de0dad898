package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of {@code http_port} and {@code https_port}. Confined to one thread. */
final class Ports {
    /** Options that need no note, because other code translates them or they have no effect in Millrace. */
    private static final Set<String> HANDLED = Set.of(
            "accel",
            "vhost",
            "no-vhost",
            "defaultsite",
            "vport",
            "cert",
            "tls-cert",
            "no-vport",
            "key",
            "tls-key",
            "name",
            "protocol",
            "ignore-cc",
            "act-as-origin",
            "allow-direct",
            "connection-auth",
            "disable-pmtu-discovery",
            "intercept",
            "transparent",
            "tproxy");

    private final Workspace workspace;
    private final Set<String> schemes = new LinkedHashSet<>();
    private final List<SquidLine> accelerators = new ArrayList<>();
    private boolean forward;

    Ports(Workspace workspace) {
        this.workspace = workspace;
    }

    /** Schemes of the addresses for reverse proxying ("accelerators" in Squid). */
    List<String> schemes() {
        return List.copyOf(schemes);
    }

    /** The first line for a reverse proxy ("accelerator"); null if there is none. */
    @Nullable
    SquidLine accelerator() {
        return accelerators.isEmpty() ? null : accelerators.get(0);
    }

    /** Returns true if there is an address for a forward proxy. */
    boolean isForward() {
        return forward;
    }

    void read(List<SquidLine> lines) {
        for (SquidLine line : lines) {
            boolean tls = line.name().equals("https_port");
            if (tls || line.name().equals("http_port")) {
                translatePort(line, tls);
            }
        }
    }

    private void translatePort(SquidLine line, boolean tls) {
        boolean tproxy = line.args().contains("tproxy");
        boolean diverted =
                tproxy || line.args().contains("intercept") || line.args().contains("transparent");
        if (line.args().contains("ssl-bump") || (diverted && tls)) {
            line.notMapped("intercepted TLS connections have no equivalent");
            return;
        }
        String text = line.arg(0);
        String address = text.matches("\\d+") ? ":" + text : text.replaceAll("^(0\\.0\\.0\\.0|\\[::]):", ":");
        boolean accelerates = line.args().contains("accel")
                || line.option("defaultsite") != null
                || line.args().contains("vhost");
        DraftNode node = workspace.draft().root().addElement("listen").from(line.markHandled());
        node.put("address", address);
        if (diverted) {
            node.put("transparent", tproxy ? "both" : "in");
            line.note("the socket option IP_TRANSPARENT needs CAP_NET_ADMIN; a request without a rule goes to the host"
                    + " of its Host field, not to the address that the client connected to");
        }
        if (accelerates) {
            accelerators.add(line);
            schemes.add(tls ? "https" : "http");
        } else {
            forward = true;
        }
        if (tls) {
            String certificate = line.option("tls-cert", "cert");
            String key = line.option("tls-key", "key");
            if (certificate == null) {
                node.put("tls.enabled", "true");
                line.notMapped("the address has no certificate: tls.certificates");
            } else {
                node.put("tls.enabled", "true");
                DraftNode element = workspace.draft().addElement("tls.certificates", line.entry());
                element.put("certificate", certificate);
                if (key != null && !key.equals(certificate)) {
                    element.put("key", key);
                }
            }
        }
        for (String word : line.argsFrom(1)) {
            String name = word.replaceAll("=.*", "");
            if (name.equals("options") && word.matches("options=(NO_(SSLv[23]|TLSv1(_1)?)[,:]?)+")) {
                line.note("TLS 1.2 is the oldest version");
            } else if (name.matches("(tls-)?(options|dh|dhparams|cipher|min-version|clientca|cafile|capath|context)")) {
                line.notMapped(name + ": see section tls");
            } else if (name.equals("require-proxy-header")) {
                line.notMapped("set listen[].proxy_protocol and access.proxy_protocol_allow");
            } else if (!HANDLED.contains(name)) {
                line.notMapped("'" + word + "' has no equivalent");
            }
        }
    }
}
