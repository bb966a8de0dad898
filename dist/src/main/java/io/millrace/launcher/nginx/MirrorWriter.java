package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.nginx.cache.CachePlan;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.SplitClients;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The writer of the settings {@code mirror} of a rule, from the location that {@code mirror} names. Stateless. */
final class MirrorWriter {
    private static final Pattern ORIGIN = Pattern.compile("(?i)(https?)://([A-Za-z0-9_.-]+(?::\\d+)?)");
    private static final String PATH = "$request_uri";
    private static final long CONTENT_MIN = 1024;
    private static final long CONTENT_MAX = 1 << 20;

    /**
     * The origin of copies.
     *
     * @param url scheme, host and port
     * @param name host and port, or name of the upstream, in {@code proxy_pass}
     * @param source the line with the host
     */
    private record Destination(String url, String name, Entry source) {}

    private final OriginRules origins;

    MirrorWriter(OriginRules origins) {
        this.origins = origins;
    }

    /**
     * Translates the directives of a rule.
     *
     * @param ruleTarget the origin of the rule
     * @param keepsPath whether this origin gets the path unchanged from the client
     */
    void write(Server server, Scope scope, Target ruleTarget, boolean keepsPath, RuleSettings.Rule rule) {
        List<Directive> lines = scope.all("mirror");
        if (lines.isEmpty() || lines.get(0).arg(0).equals("off")) {
            return;
        }
        Directive first = lines.get(0);
        for (Directive each : lines.subList(1, lines.size())) {
            each.notMapped("requests are copied once, to the origin of "
                    + first.entry().place());
        }
        Scope inner = server.scope().location(first.arg(0));
        if (inner == null || inner.own("proxy_pass").size() != 1) {
            first.notMapped("no location " + first.arg(0) + " of the server has a proxy_pass; write mirror.to");
            return;
        }
        if (!keepsPath) {
            first.notMapped("copies get the changed path that the origin gets; nginx sends them the client's path;"
                    + " write mirror.to if the changed path is right for them");
            return;
        }
        Directive pass = inner.own("proxy_pass").get(0);
        String url = inner.expand(pass.arg(0)).replace("${request_uri}", PATH);
        SplitClients split = SplitClients.of(scope, url);
        if (!url.endsWith(PATH)) {
            first.notMapped("copies have the path and the query of the request, as with a proxy_pass that ends with "
                    + PATH + ": see " + pass.entry().place());
            return;
        }
        if (!inner.own("return", "rewrite").isEmpty()
                || !inner.own("if").stream().allMatch(each -> selectsCopies(each, split))) {
            first.notMapped(
                    "return, rewrite and if of the location " + first.arg(0) + " have no equivalent for copies");
            return;
        }
        Destination to = sampled(first, inner, url.substring(0, url.length() - PATH.length()), split, rule);
        if (to != null && to.url.equals(ruleTarget.scheme() + "://" + ruleTarget.authority())) {
            first.notMapped("the copies would go to the origin of the rule; mirror.to must be another one");
        } else if (to != null) {
            rule.put("mirror.to", to.url, first.markHandled(), pass.markHandled(), to.source);
            writeSettings(scope, inner, first, to, rule);
        }
    }

    private void writeSettings(Scope scope, Scope inner, Directive first, Destination to, RuleSettings.Rule rule) {
        if (CachePlan.isOn(scope)) {
            first.entry()
                    .note("only requests that go to the origin are copied;"
                            + " nginx also copies those that its cache answers");
        }
        for (Directive each : inner.own("if")) {
            each.note("the importer uses the condition for mirror.sample");
            each.children().forEach(child -> child.note("the importer uses the directive for mirror.sample"));
        }
        translateContent(scope, inner, first, rule);
        reportFields(scope, inner, first, to, rule);
        Directive pass = inner.own("proxy_pass").get(0);
        boolean secure = to.url.startsWith("https");
        Target target = new Target(pass, secure ? "https" : "http", to.name, null, false, false, null, null);
        origins.translateTls(inner, rule, target, "mirror.tls.");
    }

    /** Returns true for {@code if ($variable = "") return} with the variable that {@code split} sets. */
    private static boolean selectsCopies(Directive block, @Nullable SplitClients split) {
        Conditions.Condition condition = Conditions.of(block);
        return split != null
                && condition != null
                && condition.variable().equals(split.variable())
                && condition.operator().equals("=")
                && condition.value().isEmpty()
                && block.children().size() == 1
                && block.children("return").size() == 1;
    }

    /**
     * Returns the origin of a URL without path. If only a part of the requests is copied, writes {@code mirror.sample}.
     * Returns null if there is no equivalent, and marks the directive.
     */
    private static @Nullable Destination sampled(
            Directive mirror, Scope inner, String url, @Nullable SplitClients split, RuleSettings.Rule rule) {
        if (split == null) {
            return destination(mirror, inner, url);
        }
        Destination only = null;
        BigDecimal share = BigDecimal.ZERO;
        List<Entry> sources = new ArrayList<>(List.of(split.source().entry()));
        for (SplitClients.Part each : split.parts()) {
            Destination found = each.value().isEmpty() ? null : destination(mirror, inner, split.replaceIn(url, each));
            if (found == null && !each.value().isEmpty()) {
                return null;
            }
            if (found != null && only != null && !found.url.equals(only.url)) {
                mirror.notMapped(
                        "copies go to one origin; " + split.source().entry().place() + " chooses among several");
                return null;
            }
            if (found != null) {
                only = found;
                share = share.add(each.percentage());
                sources.add(each.line().entry());
            }
        }
        if (only == null) {
            mirror.notMapped("no value of " + split.source().entry().place() + " is an origin");
            return null;
        }
        split.source().markHandled();
        split.source().entry().note("copied requests are chosen at random, not by the hash");
        split.parts().forEach(each -> each.line().markHandled().recordKey("mirror.sample"));
        String text = share.stripTrailingZeros().toPlainString() + "%";
        rule.put("mirror.sample", text, sources.toArray(Entry[]::new));
        return only;
    }

    private static @Nullable Destination destination(Directive mirror, Scope inner, String url) {
        Matcher parts = ORIGIN.matcher(url);
        if (!parts.matches()) {
            mirror.notMapped("'" + url + "' is not an origin for mirror.to: scheme, host and port, without a path,"
                    + " variables or a Unix socket");
            return null;
        }
        String name = parts.group(2);
        String scheme = parts.group(1).toLowerCase(java.util.Locale.ROOT);
        for (Directive each : inner.everywhere("upstream")) {
            if (each.arg(0).equals(name)) {
                return onlyHost(mirror, each, scheme);
            }
        }
        Entry source = inner.own("proxy_pass").get(0).entry();
        return new Destination(scheme + "://" + name, name, source);
    }

    /** Returns the only host of an upstream. Returns null if it has several hosts, or one with a Unix socket. */
    private static @Nullable Destination onlyHost(Directive mirror, Directive upstream, String scheme) {
        List<Directive> servers = upstream.children("server").stream()
                .filter(each -> !each.args().contains("down"))
                .toList();
        String host = servers.size() == 1 ? servers.get(0).arg(0) : "";
        if (!host.matches("[A-Za-z0-9.-]+(:\\d+)?")) {
            mirror.notMapped(
                    "copies go to one host by TCP; choose one of upstream " + upstream.arg(0) + " for mirror.to");
            return null;
        }
        upstream.markHandled().recordKey("mirror.to");
        return new Destination(
                scheme + "://" + host, upstream.arg(0), servers.get(0).markHandled());
    }

    /** Translates the limits for content. nginx copies it by default, Millrace does not. */
    private static void translateContent(Scope scope, Scope inner, Directive first, RuleSettings.Rule rule) {
        Directive setting = scope.last("mirror_request_body");
        List<Directive> off = new ArrayList<>(inner.own("proxy_set_body"));
        inner.own("proxy_pass_request_body").stream()
                .filter(each -> each.arg(0).equals("off"))
                .forEach(off::add);
        if (setting != null && setting.arg(0).equals("off")) {
            off.add(setting);
        }
        if (!off.isEmpty()) {
            for (Directive each : off) {
                each.markHandled().matchesDefaultOf("mirror.bodies");
                each.entry().note("requests with content are not copied; nginx copies them without their content");
            }
            return;
        }
        Entry source = setting == null ? first.entry() : setting.markHandled();
        Long limit = Values.bytes(scope.value("client_max_body_size", "1m"));
        long contentLimit = limit == null || limit == 0 ? Long.MAX_VALUE : limit;
        rule.put("mirror.bodies", "true", source);
        rule.put("mirror.body_max", Quantity.size(Math.max(CONTENT_MIN, Math.min(CONTENT_MAX, contentLimit))), source);
        if (contentLimit > CONTENT_MAX) {
            source.note("requests with more content than 1MiB are not copied");
        }
    }

    /** Reports that copies have the same header fields as the requests to the origin. */
    private static void reportFields(
            Scope scope, Scope inner, Directive first, Destination to, RuleSettings.Rule rule) {
        boolean pristine = "true".equals(rule.text("pristine_host_hdr"));
        Directive host = Headers.host(inner);
        boolean sendsClientHost = host != null && Headers.isClientHost(host.arg(1));
        String field = to.url.substring(to.url.indexOf("//") + 2);
        if (sendsClientHost && !pristine) {
            first.entry().note("copies have the Host field " + field + ", not that of the client");
        } else if (!sendsClientHost && pristine) {
            first.entry().note("copies have the Host field of the client, as the origin");
        } else if (!sendsClientHost && host == null && !to.name.equals(field)) {
            first.entry().note("copies have the Host field " + field + "; nginx sends " + to.name);
        }
        for (Directive each : inner.own("proxy_set_header")) {
            String name = each.arg(0);
            boolean same = scope.all("proxy_set_header").stream()
                    .anyMatch(one -> one.text().equals(each.text()));
            boolean isSame = each == host
                    ? sendsClientHost ? pristine : each.arg(1).equals(field) && !pristine
                    : same || name.equalsIgnoreCase("Content-Length");
            if (isSame) {
                each.note("copies have the fields that the origin gets");
            } else {
                each.notMapped("copies have the fields that the origin gets");
            }
        }
    }
}
