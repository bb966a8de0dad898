package io.millrace.system;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that rules of every kind have the same results as in Traffic Server. */
@Tag("nightly")
class RulesSideBySideTest extends SideBySideFixture {
    private static final List<String> RULES = List.of(
            "map http://www.example.com/ http://ORIGIN/",
            "map http://a.example.com/a/b/ http://ORIGIN/x/y/",
            "map http://b.example.com/a/b http://ORIGIN/x/y",
            "map http://c.example.com/a/b http://ORIGIN/x/y/",
            "map http://d.example.com/sub/ http://ORIGIN/",
            "map http://e.example.com http://ORIGIN",
            "map http://f.example.com/ http://ORIGIN/first/",
            "map http://f.example.com/stuff/ http://ORIGIN/second/",
            "map http://g.example.com/stuff/ http://ORIGIN/second/",
            "map http://g.example.com/ http://ORIGIN/first/",
            "map http://h.example.com:8080/ http://ORIGIN/eight/",
            "redirect http://old.example.com/ http://new.example.com/",
            "redirect http://oldp.example.com/a/ http://new.example.com/b/",
            "redirect_temporary http://tmp.example.com/ http://new.example.com/",
            "redirect http://both.example.com/ http://perm.example.com/",
            "redirect_temporary http://both.example.com/ http://temp.example.com/",
            "redirect http://port.example.com/ https://new.example.com:8888/x",
            "regex_map http://x([0-9]+)\\.z\\.com/ http://ORIGIN/rx/",
            "regex_map http://cap([0-9])\\.host\\.com/ http://127.0.0.$1:CAP/cap",
            "regex_redirect http://old\\.(.*)\\.y\\.com/ http://new.$1.y.com/",
            "regex_redirect_temporary http://oldt\\.(.*)\\.y\\.com/ http://new.$1.y.com/q",
            "map_with_recv_port http://recv.example.com:PORT/ http://ORIGIN/port1/",
            "map_with_recv_port http://recv.example.com:SECOND/ http://ORIGIN/port2/",
            "map http://recv.example.com/ http://ORIGIN/noport/",
            "map http://UPPER.example.com/ http://ORIGIN/upper/",
            "map http://mixed.example.com/CaSe/ http://ORIGIN/case/",
            "map http://exact.example.com/file.html http://ORIGIN/other.html",
            "reverse_map http://ORIGIN/x/ http://rev.example.com/y/",
            "map http://rev.example.com/y/ http://ORIGIN/x/",
            "map http://pristine.example.com/ http://ORIGIN/p/ @plugin=conf_remap.so @pparam=proxy.config.url_remap.pristine_host_hdr=1");

    @Test
    void rulesAreTheSame() throws IOException {
        // Otherwise rules that lead to one URL would share stored responses.
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT SECOND",
                "CONFIG proxy.config.http.cache.http INT 0");
        file(
                "remap.config",
                RULES.stream()
                        .map(rule -> rule.replace("CAP", Integer.toString(origin.port())))
                        .toArray(String[]::new));
        maps();
        redirections();
        expressionsAndPorts();
        methodsAndAnswers();
        compare();
    }

    private void maps() {
        get("www.example.com", "/", "/a", "/a/b?q=1", "/a//b", "/a/../b", "/a;p=1");
        get("WWW.EXAMPLE.COM", "/");
        get("www.example.com:80", "/");
        get("a.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b/c/?x=1");
        get("b.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b?x=1");
        get("c.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b?x=1");
        get("d.example.com", "/sub/", "/sub", "/sub/x", "/subx", "/");
        get("e.example.com", "/", "/a");
        get("f.example.com", "/", "/stuff/a");
        get("g.example.com", "/", "/stuff/a");
        get("h.example.com", "/");
        get("h.example.com:8080", "/");
    }

    private void redirections() {
        get("old.example.com", "/", "/a/b?q=1");
        get("oldp.example.com", "/a/", "/a/x", "/a", "/");
        get("tmp.example.com", "/", "/x?y");
        get("both.example.com", "/");
        get("port.example.com", "/", "/a");
    }

    private void expressionsAndPorts() {
        get("x12.z.com", "/", "/a");
        get("X9.Z.COM", "/q");
        get("x.z.com", "/");
        get("cap1.host.com", "/", "/z");
        get("old.a.y.com", "/", "/p?q");
        get("oldt.a.y.com", "/", "/p?q");
        get("recv.example.com", "/");
        get("recv.example.com:9999", "/");
        ask("GET", "recv.example.com", "/", "X-Port: second");
        get("www.example.com:8080", "/");
        differs("a rule that names no port is for every port");
        get("ax12.z.com", "/");
        differs("expressions are for the whole host");
    }

    private void methodsAndAnswers() {
        get("upper.example.com", "/");
        get("mixed.example.com", "/CaSe/x", "/case/x");
        get("exact.example.com", "/file.html", "/file.html?x", "/file.htmlx", "/file.html/x");
        get("unknown.example.com", "/");
        get("pristine.example.com", "/");
        get("other.example.com", "http://www.example.com/abs");
        for (String method : List.of("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")) {
            ask(method, "www.example.com", "/method");
        }
        origin.on("/x/moved", exchange -> exchange.answer(302, "", "Location: " + origin.url() + "/x/there"));
        origin.on("/x/away", exchange -> exchange.answer(302, "", "Location: http://away.example/"));
        get("rev.example.com", "/y/moved", "/y/away");
    }
}
