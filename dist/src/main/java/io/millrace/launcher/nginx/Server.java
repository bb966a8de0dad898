package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;

/** A {@code server} block with its addresses, its names, and the hosts for which it answers. Confined to one thread. */
final class Server {
    private final Scope scope;
    private boolean local;
    private final List<Listen> listens = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<UrlBase> bases = new ArrayList<>();

    Server(Scope scope) {
        this.scope = scope;
        boolean oldSsl = scope.own("ssl").stream().anyMatch(Directive::isOn);
        scope.own("ssl").forEach(each -> each.note("the importer uses the directive for listen"));
        for (Directive each : scope.own("listen")) {
            Listen listen = Listen.of(each, oldSsl);
            if (listen != null) {
                listens.add(listen);
            }
        }
        if (scope.own("listen").isEmpty()) {
            Directive defaultListen =
                    new Directive("listen", List.of("80"), scope.block().entry(), false);
            Listen listen = Listen.of(defaultListen, oldSsl);
            if (listen != null) {
                listens.add(listen);
            }
        }
        for (Directive each : scope.own("server_name")) {
            for (String name : each.args()) {
                addName(name);
            }
        }
    }

    /** Adds a name. The notation {@code .example.com} means both the name and {@code *.example.com}. */
    private void addName(String name) {
        if (name.startsWith(".")) {
            names.add(name.substring(1));
            names.add("*" + name);
        } else if (!name.isEmpty() && !name.equals("_") && !name.equals("\"\"")) {
            names.add(name);
        }
    }

    Scope scope() {
        return scope;
    }

    List<Listen> listens() {
        return listens;
    }

    /** The names, except those that match no host, such as {@code _}. */
    List<String> names() {
        return names;
    }

    /** The first name; empty if it is not one host. */
    String firstName() {
        String name = names.isEmpty() ? "" : names.get(0);
        return name.matches("[\\w.-]+") ? name : "";
    }

    /** The schemes, hosts and ports for which the server answers. {@link Servers} adds them. */
    List<UrlBase> bases() {
        return bases;
    }

    /** Returns true if only clients of this machine can reach the server, and other clients can reach other servers. */
    boolean isLocal() {
        return local;
    }

    void setLocal() {
        local = true;
    }

    /** Returns true if all listening addresses are loopback addresses. */
    boolean isAtLoopback() {
        return !listens.isEmpty() && listens.stream().allMatch(Listen::isLoopback);
    }

    boolean hasTls() {
        return listens.stream().anyMatch(Listen::tls);
    }

    /** Returns true if a location sends its requests to an origin. */
    boolean isMapping(Location location) {
        return !handler(location.scope()).own("proxy_pass", "grpc_pass").isEmpty();
    }

    /** Returns true if a location has a remap rule whose {@code rules} apply to its requests. */
    boolean isAnswered(Location location) {
        return isMapping(location) || AnswerRule.of(location.scope()) != null;
    }

    /**
     * Returns the scope that handles the requests of a location. This may be a named location of try_files or
     * error_page.
     */
    Scope handler(Scope location) {
        if (location.own("proxy_pass", "grpc_pass", "return").isEmpty()) {
            for (Directive each : location.own("try_files", "error_page")) {
                Scope named = each.lastArg().startsWith("@") ? Location.named(scope, each.lastArg()) : null;
                if (named != null && !named.own("proxy_pass", "grpc_pass").isEmpty()) {
                    return named;
                }
            }
        }
        return location;
    }
}
