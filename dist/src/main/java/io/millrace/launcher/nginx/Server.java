package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;

/** A block {@code server} with its addresses, names and the URLs that it answers for. Confined to one thread. */
final class Server {
    private final Scope scope;
    private final List<Listen> listens = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<UrlBase> bases = new ArrayList<>();

    Server(Scope scope) {
        this.scope = scope;
        boolean oldSsl = scope.own("ssl").stream().anyMatch(Directive::isOn);
        scope.own("ssl").forEach(each -> each.note("taken into account with listen"));
        for (Directive each : scope.own("listen")) {
            Listen listen = Listen.of(each, oldSsl);
            if (listen != null) {
                listens.add(listen);
            }
        }
        if (scope.own("listen").isEmpty()) {
            Directive usual =
                    new Directive("listen", List.of("80"), scope.block().entry(), false);
            Listen listen = Listen.of(usual, oldSsl);
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

    /** {@code .example.com} stands for the name and everything below it. */
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

    /** Names without those that match nothing, such as {@code _}. */
    List<String> names() {
        return names;
    }

    /** The URLs that the server answers for, as {@link Servers} determined. */
    List<UrlBase> bases() {
        return bases;
    }

    boolean hasTls() {
        return listens.stream().anyMatch(Listen::tls);
    }
}
