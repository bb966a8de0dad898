package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The translator of {@code log_format} and {@code access_log}. Imports one access log. Confined to one thread. */
final class Logs {
    /** Field codes of log templates, by nginx variable. */
    private static final Map<String, String> CODES = Map.ofEntries(
            Map.entry("remote_addr", "%<chi>"),
            Map.entry("realip_remote_addr", "%<chi>"),
            Map.entry("remote_user", "%<caun>"),
            Map.entry("time_local", "%<cqtn>"),
            Map.entry("msec", "%<cqtq>"),
            Map.entry("request", "%<cqhm> %<cqup> %<cqpv>"),
            Map.entry("request_uri", "%<cqup>"),
            Map.entry("uri", "%<cqup>"),
            Map.entry("request_method", "%<cqhm>"),
            Map.entry("server_protocol", "%<cqpv>"),
            Map.entry("status", "%<pssc>"),
            Map.entry("body_bytes_sent", "%<pscl>"),
            Map.entry("bytes_sent", "%<psql>"),
            Map.entry("host", "%<cquuh>"),
            Map.entry("http_host", "%<cquuh>"),
            Map.entry("scheme", "%<cqus>"),
            Map.entry("request_time", "%<ttmsf>"),
            Map.entry("upstream_cache_status", "%<crc>"),
            Map.entry("upstream_status", "%<sssc>"),
            Map.entry("upstream_addr", "%<shn>"),
            Map.entry("ssl_protocol", "%<cqssv>"),
            Map.entry("ssl_cipher", "%<cqssc>"),
            Map.entry("ssl_server_name", "%<cssn>"),
            Map.entry("ssl_client_s_dn", "%<client_subject>"),
            Map.entry("sent_http_content_type", "%<psct>"));

    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([a-z0-9_]+)}?");

    private final Draft draft;
    private final Scope http;

    Logs(Draft draft, Scope http) {
        this.draft = draft;
        this.http = http;
    }

    /**
     * Writes the settings of the access log.
     *
     * @param scopes the scopes of servers and rules
     */
    void write(List<Scope> scopes) {
        Set<Directive> all = new LinkedHashSet<>(http.own("access_log"));
        scopes.forEach(scope -> all.addAll(scope.all("access_log")));
        Directive chosen = null;
        for (Directive each : all) {
            if (each.arg(0).equals("off")) {
                continue;
            }
            if (chosen == null && !each.arg(0).startsWith("syslog:")) {
                chosen = each;
                translateLog(each);
            } else {
                each.notMapped(
                        chosen == null
                                ? "the importer does not translate the target; log.access[].target: syslog sends lines"
                                        + " to a syslog receiver"
                                : "there is one access log, with the format of "
                                        + chosen.entry().place());
            }
        }
        for (Directive each : all) {
            if (!each.arg(0).equals("off")) {
                continue;
            }
            if (chosen == null && http.own("access_log").contains(each)) {
                draft.set("log.access.enabled", "false", each.markHandled());
            } else {
                each.notMapped("all requests are logged; log.access[].filter selects requests");
            }
        }
        for (Directive each : http.own("log_format")) {
            if (!each.isHandled()) {
                each.note("no imported log uses the format");
            }
        }
        if (chosen == null && draft.root().find("log.access.enabled") == null) {
            draft.setDefault("log.access.format", "combined", "nginx", "access_log");
        }
    }

    private void translateLog(Directive log) {
        String name = log.arg(1).isEmpty() || log.arg(1).contains("=") ? "combined" : log.arg(1);
        Directive format = null;
        for (Directive each : http.own("log_format")) {
            format = each.arg(0).equals(name) ? each : format;
        }
        log.markHandled().note("the file is access.log in the log directory; log.access.path names another");
        for (String word : log.args()) {
            if (word.startsWith("if=")) {
                log.notMapped("if: the importer does not translate the condition; log.access[].filter selects the"
                        + " logged requests");
            }
        }
        if (format == null) {
            if (!name.equals("combined")) {
                log.notMapped("no format '" + name + "' exists");
            }
            draft.set("log.access.format", "combined", log.entry());
            return;
        }
        List<String> unknown = new ArrayList<>();
        String template = template(format, unknown);
        if (!unknown.isEmpty()) {
            format.notMapped(String.join(", ", unknown) + ": the log has no such field; '-' is written");
        }
        DraftNode node = draft.root().put("log.access.format", template).removableIfInvalid();
        node.from(log.entry()).from(format.markHandled());
    }

    private static String template(Directive format, List<String> unknown) {
        StringBuilder text = new StringBuilder();
        for (String word : format.args().subList(1, format.args().size())) {
            if (!word.startsWith("escape=")) {
                text.append(word);
            }
        }
        Matcher variable = VARIABLE.matcher(text);
        StringBuilder out = new StringBuilder();
        while (variable.find()) {
            String code = code(variable.group(1));
            if (code == null) {
                unknown.add("$" + variable.group(1));
            }
            variable.appendReplacement(out, Matcher.quoteReplacement(code == null ? "-" : code));
        }
        variable.appendTail(out);
        return out.toString();
    }

    private static @Nullable String code(String variable) {
        String code = CODES.get(variable);
        if (code != null) {
            return code;
        }
        if (variable.startsWith("http_")) {
            return "%<{" + field(variable.substring(5)) + "}cqh>";
        }
        if (variable.startsWith("upstream_http_")) {
            return "%<{" + field(variable.substring(14)) + "}ssh>";
        }
        return variable.startsWith("sent_http_") ? "%<{" + field(variable.substring(10)) + "}psh>" : null;
    }

    private static String field(String variable) {
        StringBuilder name = new StringBuilder();
        for (String word : variable.split("_", -1)) {
            name.append(name.isEmpty() ? "" : "-")
                    .append(word.isEmpty() ? "" : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return name.toString();
    }
}
