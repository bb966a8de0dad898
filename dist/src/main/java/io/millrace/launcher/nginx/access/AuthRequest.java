package io.millrace.launcher.nginx.access;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The server that {@code auth_request} asks about the requests of a location. Immutable.
 *
 * @param source the directive
 * @param inner the location whose origin is the server
 * @param pass the {@code proxy_pass} of {@code inner}
 * @param url URL of the server
 */
public record AuthRequest(Directive source, Scope inner, Directive pass, String url) {
    private static final String PLAIN_URL = "(?i)https?://[\\w.-]+(:\\d+)?(/[^$\\s#]*)?";

    /**
     * Returns the server for a location. Returns null if there is none. Returns null too if other directives
     * authenticate clients, or if the server depends on variables or is a group; the rule must then deny all clients.
     *
     * @param location the location whose requests are authorised
     */
    @Nullable
    public static AuthRequest of(Scope server, Scope location) {
        Directive found = AccessPlan.authentication(location);
        if (found == null
                || !isOnlyAuthentication(found, location)
                || !found.arg(0).matches("/[^$]*")) {
            return null;
        }
        Scope inner = server.location(found.arg(0));
        List<Directive> passes = inner == null ? List.of() : inner.own("proxy_pass");
        if (inner == null
                || passes.size() != 1
                || !inner.own("return", "rewrite", "if").isEmpty()) {
            return null;
        }
        String url = inner.expand(passes.get(0).arg(0));
        boolean group = server.everywhere("upstream").stream()
                .anyMatch(each -> each.arg(0).equals(host(url)));
        if (group || !url.matches(PLAIN_URL)) {
            return null;
        }
        // Without a path in proxy_pass, nginx sends the path of the auth_request location.
        boolean hasPath = url.indexOf('/', url.indexOf("//") + 2) >= 0;
        return new AuthRequest(found, inner, passes.get(0), hasPath ? url : url + found.arg(0));
    }

    private static boolean isOnlyAuthentication(Directive found, Scope location) {
        return found.name().equals("auth_request")
                && AccessPlan.isOnlyAuthentication(location, "auth_request")
                && !location.value("satisfy", "all").equals("any")
                && location.own("limit_except").isEmpty();
    }

    private static String host(String url) {
        return url.replaceFirst("^[a-zA-Z]+://", "").replaceFirst("/.*$", "");
    }

    /**
     * Writes the settings of a rule.
     *
     * @param location the location whose requests are authorised
     */
    public void write(Scope location, DraftNode rule) {
        rule.put("authorize.url", url).from(source.markHandled()).from(pass.markHandled());
        source.entry()
                .note("the server gets Authorization, Cookie and X-Forwarded-*; a redirection is sent to"
                        + " the client; for nginx it is an error");
        List<String> sent = new ArrayList<>(List.of("Authorization", "Cookie"));
        for (Directive each : inner.own("proxy_set_header")) {
            sentField(each, sent);
        }
        if (sent.size() > 2) {
            rule.putWords("authorize.send_fields", sent);
        }
        rule.put("authorize.forward", "true").remark("nginx sends Authorization to the origin too");
        for (Directive each : inner.own("proxy_pass_request_body")) {
            each.note("the server gets no content");
        }
        for (Directive each : inner.own("proxy_cache", "proxy_cache_valid", "proxy_cache_key")) {
            each.notMapped("write authorize.ttl and authorize.cache_key to remember decisions");
        }
        List<String> received = new ArrayList<>();
        for (Directive each : location.all("auth_request_set")) {
            receivedField(location, each, received);
        }
        if (!received.isEmpty()) {
            rule.putWords("authorize.receive_fields", received);
        }
    }

    private static void sentField(Directive each, List<String> sent) {
        String name = each.arg(0);
        String value = each.arg(1).replaceAll("[{}]", "");
        if (value.equals("$http_" + variable(name))) {
            sent.add(name);
            each.markHandled().recordKey("authorize.send_fields");
        } else if (name.equalsIgnoreCase("Content-Length") || name.equalsIgnoreCase("Host")) {
            each.note("Millrace writes this field itself, from authorize.url");
        } else {
            each.notMapped("the server gets X-Forwarded-Method, -Proto, -Host, -Uri and -For about the request");
        }
    }

    /**
     * Translates a request field for the origin. Its value must be the field with the same name in the response of the
     * authorisation server.
     */
    private static void receivedField(Scope location, Directive each, List<String> received) {
        String variable = each.arg(0);
        String value = each.arg(1).replaceAll("[{}]", "");
        for (Directive set : location.all("proxy_set_header")) {
            if (set.arg(1).replaceAll("[{}]", "").equals(variable)
                    && value.equals("$upstream_http_" + variable(set.arg(0)))) {
                received.add(set.arg(0));
                set.markHandled().recordKey("authorize.receive_fields");
                each.markHandled().recordKey("authorize.receive_fields");
                return;
            }
        }
        each.notMapped("origins get the fields of authorize.receive_fields under the names that the server sends");
    }

    /** Returns true if the value of a field for origins comes from the response of the authorisation server. */
    public static boolean isReceived(Scope location, Directive field) {
        String value = field.arg(1).replaceAll("[{}]", "");
        return AccessPlan.authentication(location) != null
                && location.all("auth_request_set").stream()
                        .anyMatch(each -> each.arg(0).equals(value)
                                && each.arg(1)
                                        .replaceAll("[{}]", "")
                                        .equals("$upstream_http_" + variable(field.arg(0))));
    }

    private static String variable(String field) {
        return field.toLowerCase(Locale.ROOT).replace('-', '_');
    }
}
