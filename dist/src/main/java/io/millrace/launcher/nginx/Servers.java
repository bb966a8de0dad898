package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All {@code server} blocks. Determines for which hosts and ports each of them answers. Confined to one thread. */
final class Servers {
    private final List<Server> all = new ArrayList<>();

    Servers(Scope http) {
        for (Directive each : http.own("server")) {
            all.add(new Server(new Scope(http, each)));
        }
        assignBases();
        if (!all.stream().allMatch(Server::isAtLoopback)) {
            all.stream().filter(Server::isAtLoopback).forEach(Server::setLocal);
        }
    }

    List<Server> all() {
        return all;
    }

    private void assignBases() {
        Set<String> usedPatterns = new HashSet<>();
        int order = 0;
        for (Server server : all) {
            for (Listen listen : distinctListens(server)) {
                int port = isByPort(listen.scheme()) ? listen.port() : 0;
                for (String name : server.names()) {
                    order++;
                    add(server, UrlBase.of(listen.scheme(), name, port, order), name, usedPatterns);
                }
            }
        }
        if (all.size() == 1 && !all.get(0).listens().isEmpty()) {
            // The only server answers for every host, whatever its names are.
            all.get(0).bases().clear();
            all.get(0).bases().add(UrlBase.allUrls());
            return;
        }
        Set<String> assignedPorts = new HashSet<>();
        for (Server server : all) {
            for (Listen listen : distinctListens(server)) {
                int port = isByPort(listen.scheme()) ? listen.port() : 0;
                if (defaultServer(listen) == server
                        && assignedPorts.add(listen.scheme() + port)
                        && mayAnswerAll(server, listen)) {
                    server.bases().add(UrlBase.any(listen.scheme(), port));
                }
            }
        }
    }

    private static List<Listen> distinctListens(Server server) {
        Map<String, Listen> distinctListens = new LinkedHashMap<>();
        server.listens().forEach(listen -> distinctListens.putIfAbsent(listen.scheme() + listen.port(), listen));
        return List.copyOf(distinctListens.values());
    }

    private static void add(Server server, @Nullable UrlBase base, String name, Set<String> usedPatterns) {
        if (base == null) {
            server.scope()
                    .own("server_name")
                    .forEach(each -> each.notMapped("'" + name + "' is not a name that a rule can match"));
        } else if (!usedPatterns.add(base.pattern("/"))) {
            server.scope().own("server_name").forEach(each -> each.entry()
                    .note("'" + name + "' belongs to an earlier server with this name"));
        } else {
            server.bases().add(base);
        }
    }

    /** Returns true if servers with the scheme listen at different ports, so that rules must match the port. */
    private boolean isByPort(String scheme) {
        Set<Set<Integer>> different = new HashSet<>();
        for (Server server : all) {
            Set<Integer> ports = new LinkedHashSet<>();
            for (Listen listen : server.listens()) {
                if (listen.scheme().equals(scheme)) {
                    ports.add(listen.port());
                }
            }
            if (!ports.isEmpty()) {
                different.add(ports);
            }
        }
        return different.size() > 1;
    }

    /** Returns the default server of an address: the server that is marked as such, else the first server. */
    private Server defaultServer(Listen listen) {
        Server defaultServer = null;
        for (Server server : all) {
            for (Listen each : server.listens()) {
                if (each.port() == listen.port() && each.tls() == listen.tls()) {
                    if (each.isDefault()) {
                        return server;
                    }
                    defaultServer = defaultServer == null ? server : defaultServer;
                }
            }
        }
        return defaultServer == null ? all.get(0) : defaultServer;
    }

    /**
     * Returns false if the default server must not get a rule for all hosts. Millrace would try this rule before the
     * redirections of other servers.
     */
    private boolean mayAnswerAll(Server server, Listen listen) {
        boolean maps = !Redirects.redirectsAll(server.scope());
        boolean named = !server.names().isEmpty();
        boolean hides = all.stream()
                .anyMatch(other -> other != server
                        && Redirects.redirectsSome(other.scope())
                        && other.listens().stream()
                                .anyMatch(each -> each.scheme().equals(listen.scheme())));
        if (maps && named && hides) {
            server.scope().own("server_name").forEach(each -> each.entry()
                    .note("hosts without a server get 404: a rule for all hosts would hide redirections"));
            return false;
        }
        if (maps && hides) {
            for (Server other : all) {
                if (other != server && Redirects.redirectsSome(other.scope())) {
                    other.scope()
                            .own("server_name")
                            .forEach(each -> each.notMapped(
                                    "the rule for all hosts of the default server precedes redirections"));
                }
            }
        }
        return true;
    }
}
