package io.millrace.launcher.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The HTTPS site of {@code millrace run --domain}, which needs no configuration file. Immutable.
 *
 * @param names host names of the site and its certificates
 * @param https address of the HTTPS listener
 * @param email e-mail address for the issuer of the certificates; null for none
 * @param acceptsTerms whether the operator accepts the issuer's terms of service
 */
public record TlsSite(
        List<String> names, String https, @Nullable String email, boolean acceptsTerms) {
    /** Default address of the HTTPS listener. */
    public static final String HTTPS_DEFAULT = ":443";

    /** Default address of the plain HTTP listener. */
    static final String HTTP_DEFAULT = ":80";

    /** Creates a site with a copy of {@code names}. */
    public TlsSite {
        names = List.copyOf(names);
    }

    /**
     * Returns the configuration text: HTTPS requests for the names go to the origin, plain HTTP requests are
     * redirected.
     *
     * @param listen addresses of the plain HTTP listeners
     */
    String yaml(List<String> listen, String origin) {
        StringBuilder text = new StringBuilder("listen:\n");
        for (String address : listen) {
            text.append("  - ").append(quoted(address)).append('\n');
        }
        text.append("  - {address: ").append(quoted(https)).append(", tls: {}}\n");
        text.append("tls:\n  acme:\n    names: [");
        text.append(String.join(", ", names.stream().map(TlsSite::quoted).toList()));
        text.append("]\n    accept_terms: ").append(acceptsTerms).append('\n');
        if (email != null) {
            text.append("    email: ").append(quoted(email)).append('\n');
        }
        text.append("remap:\n");
        names.forEach(name -> text.append(rules(name, listen, https, origin)));
        return text.toString();
    }

    /**
     * Returns the elements of {@code remap} for a site: HTTPS goes to the origin, plain HTTP is redirected to HTTPS.
     *
     * @param plain addresses of the plain HTTP listeners
     * @param https address of the HTTPS listener
     */
    public static String rules(String name, List<String> plain, String https, String origin) {
        StringBuilder text = new StringBuilder();
        // If a port mapping is in front of the proxy, clients use the standard ports. So there are rules for the
        // standard port and for the configured port.
        Set<String> plainEnds = new LinkedHashSet<>(List.of("/"));
        plain.forEach(address -> plainEnds.add(portAndSlash(address, "80")));
        Set<String> secureEnds = new LinkedHashSet<>(List.of("/", portAndSlash(https, "443")));
        for (String end : secureEnds) {
            appendRule(text, "map", "https://" + name + end, origin);
        }
        for (String end : plainEnds) {
            String secureEnd = end.equals("/") ? "/" : portAndSlash(https, "443");
            appendRule(text, "redirect", "http://" + name + end, "https://" + name + secureEnd);
        }
        return text.toString();
    }

    private static void appendRule(StringBuilder text, String verb, String from, String to) {
        text.append("  - ").append(verb).append(": ").append(quoted(from));
        text.append("\n    to: ").append(quoted(to)).append('\n');
    }

    /** Returns the part of a URL after the host name: the port, unless it is the standard port, and a slash. */
    private static String portAndSlash(String address, String standardPort) {
        String port = address.substring(address.lastIndexOf(':') + 1);
        return port.equals(standardPort) ? "/" : ":" + port + "/";
    }

    /** Returns a double-quoted YAML scalar. */
    public static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
