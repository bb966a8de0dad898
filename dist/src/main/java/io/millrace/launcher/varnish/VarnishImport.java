package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Statement;
import io.millrace.launcher.varnish.syntax.Vcl;
import io.millrace.launcher.varnish.syntax.VclReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The importer of a VCL file of Varnish. {@link VclRecv} and {@link VclBackendResponse} translate the statements of
 * these subroutines. An object imports one file. Confined to one thread.
 */
public final class VarnishImport {
    /** A request field in an expression of VCL. */
    private static final Pattern FIELD = Pattern.compile("(?:req|bereq)\\.http\\.([A-Za-z0-9-]+)");

    private final VclImportState state;
    private final Backends backends;

    private VarnishImport(VclImportState state) {
        this.state = state;
        backends = new Backends(state);
    }

    /**
     * Imports a file, with the files that it includes.
     *
     * @param path a VCL file, or a directory with {@code default.vcl}
     */
    public static ImportResult read(Path path) {
        Path file = Files.isDirectory(path) ? path.resolve("default.vcl") : path;
        if (!Files.exists(file)) {
            return Workspace.failure(file + ": no such file");
        }
        Path parent = file.toAbsolutePath().getParent();
        Workspace workspace = new Workspace(
                "Varnish", "millctl import varnish", Files.isDirectory(path) ? path : parent == null ? file : parent);
        VclReader reader = new VclReader(workspace);
        reader.read(file);
        if (workspace.problems().isEmpty()) {
            new VarnishImport(new VclImportState(workspace, reader.vcl())).convert();
        }
        return workspace.finish();
    }

    private void convert() {
        Vcl vcl = state.vcl();
        backends.init();
        VclRecv recv = new VclRecv(state, backends);
        recv.walk("vcl_recv");
        translateHash();
        VclBackendResponse response = new VclBackendResponse(state);
        response.walk("vcl_backend_response");
        response.walk("vcl_fetch");
        response.finish();
        translateFetch("vcl_backend_fetch");
        translateDeliver();
        for (Map.Entry<String, List<Statement>> each : vcl.subs().entrySet()) {
            addRemainingNotes(each.getKey(), each.getValue());
        }
        writeRules(recv);
        writeDefaults(recv);
        backends.finish();
        for (Vcl.Acl each : vcl.acls().values()) {
            boolean used = state.addresses(each.name()) != null && isUsed(each.name());
            if (!used) {
                each.entry().note("no imported setting uses the list");
                each.addresses().forEach(one -> one.entry().note("no imported setting uses the list"));
            }
        }
    }

    private boolean isUsed(String acl) {
        Vcl.Acl found = state.vcl().acls().get(acl);
        return found != null && found.entry().hasKeys();
    }

    private void writeRules(VclRecv recv) {
        DraftNode root = state.workspace().draft().root();
        Set<String> seen = new HashSet<>();
        List<DraftNode> written = new ArrayList<>();
        for (VclRecv.Route each : recv.routes()) {
            if (!seen.add(each.verb() + each.map())) {
                each.source().note("an earlier rule has the same URL");
                continue;
            }
            DraftNode rule = root.addElement("remap").from(each.source());
            rule.put(each.verb(), each.map());
            if (each.backend().equals(VclRecv.DENIED)) {
                rule.put("to", DraftNode.DENIED_TARGET);
                rule.addElement("filters").put("action", "deny");
                continue;
            }
            writeTarget(rule, each.backend(), path(each.map()));
            written.add(rule);
        }
        String defaultBackend = recv.defaultBackend();
        if (defaultBackend != null) {
            DraftNode rule = root.addElement("remap");
            rule.put("map", "/");
            writeTarget(rule, defaultBackend, "/");
            Entry source = recv.defaultBackendSource();
            if (source != null) {
                rule.from(source);
            }
            written.add(rule);
        }
        Entry upgrade = recv.upgradeSource();
        if (recv.upgrades() && upgrade != null) {
            for (DraftNode rule : written) {
                rule.putWords("upgrade", List.of("websocket"))
                        .removableIfInvalid()
                        .from(upgrade);
            }
        }
    }

    private static String path(String map) {
        int host = map.indexOf("://");
        return host < 0 ? map : map.substring(map.indexOf('/', host + 3));
    }

    private void writeTarget(DraftNode rule, String backend, String path) {
        String url = backends.url(backend);
        rule.put("to", url.equals(DraftNode.DENIED_TARGET) ? url : url + path.substring(1));
        if (url.equals(DraftNode.DENIED_TARGET)) {
            rule.addElement("filters").put("action", "deny");
        }
        backends.assign(backend, rule);
    }

    /** Writes the defaults of Varnish that differ from Millrace's, for keys that are not set. */
    private void writeDefaults(VclRecv recv) {
        Draft draft = state.workspace().draft();
        DraftNode address = draft.root().addElement("listen");
        address.put("address", ":80");
        address.remark("Addresses are options of varnishd (-a), which VCL does not contain.");
        draft.setDefault("pristine_host_hdr", "true", "Varnish", "it sends the client's Host field");
        draft.setDefault("cache.ignore_client_no_cache", "true", "Varnish", "it ignores Cache-Control of requests");
        draft.setDefault("cache.ignore_client_max_age", "true", "Varnish", "it ignores Cache-Control of requests");
        if (draft.root().find("cache.guaranteed_min_lifetime") == null) {
            draft.setDefault("cache.heuristic_lm_factor", "0", "Varnish", "default_ttl 120s");
            draft.setDefault("cache.heuristic_min_lifetime", "2m", "Varnish", "default_ttl 120s");
            draft.setDefault("cache.heuristic_max_lifetime", "2m", "Varnish", "default_ttl 120s");
        }
        draft.setDefault("cache.heuristic_without_last_modified", "true", "Varnish", "default_ttl 120s");
        draft.setDefault("cache.force_stale_while_revalidate", "10s", "Varnish", "default_grace 10s");
        draft.setDefault("cache.max_stale_age", "10s", "Varnish", "default_grace 10s");
        if (state.cookiesPass()) {
            draft.setDefault("cache.cache_responses_to_cookies", "none", "Varnish", "requests with Cookie are passed");
        } else {
            draft.setDefault("cache.guessed_lifetime_with_cookies", "all", "Varnish", "vcl_recv ignores cookies");
        }
        if (recv.dropsCookies() || !state.cookiesPass()) {
            draft.setDefault("cache.unshared_fields", "[Set-Cookie]", "Varnish", "it does not store Set-Cookie");
        }
        draft.setDefault("cache.leak_guard", "warn", "Varnish", "it has no leak guard");
        draft.setDefault("timeouts.origin_connect", "3500ms", "Varnish", "connect_timeout 3.5s");
        draft.setDefault("timeouts.origin_first_byte", "1m", "Varnish", "first_byte_timeout 60s");
        draft.setDefault("timeouts.origin_idle", "1m", "Varnish", "between_bytes_timeout 60s");
        state.workspace()
                .warn("VCL has neither addresses nor storage: set listen (varnishd -a), cache.ram_size and"
                        + " storage (varnishd -s)");
    }

    private void translateHash() {
        List<String> fields = new ArrayList<>();
        new Walker(state.vcl()) {
            @Override
            void statement(Statement each, List<Condition> around) {
                String value = each.value().toLowerCase(Locale.ROOT);
                Matcher field = FIELD.matcher(each.value());
                if (each.kind().equals("return")) {
                    each.note("the key is looked up by default");
                } else if (!each.kind().equals("hash_data")) {
                    each.notMapped("only hash_data has an equivalent");
                } else if (value.contains("req.url")
                        || value.contains("req.http.host")
                        || value.contains("server.ip")) {
                    each.markHandled().matchesDefaultOf("cache.key");
                } else if (value.contains("x-forwarded-proto") || value.contains("https")) {
                    each.markHandled().matchesDefaultOf("cache.key");
                    each.note("the scheme is part of the key");
                } else if (value.contains("req.http.cookie")) {
                    each.notMapped("cache.key.cookies names the cookies that select variants");
                } else if (field.find()) {
                    if (!fields.contains(field.group(1))) {
                        fields.add(field.group(1));
                    }
                    DraftNode node = state.workspace().draft().root().putWords("cache.key.fields", fields);
                    node.removableIfInvalid().from(each.markHandled());
                    if (field.group(1).toLowerCase(Locale.ROOT).startsWith("x-")) {
                        each.note("only a field that the client sends counts, not one that vcl_recv sets");
                    }
                } else {
                    each.notMapped("the key is made of the URL, request fields and cookies");
                }
            }
        }.walk("vcl_hash");
    }

    /** Translates changed fields of requests to origins. */
    private void translateFetch(String sub) {
        new Walker(state.vcl()) {
            @Override
            void statement(Statement each, List<Condition> around) {
                if (each.target().toLowerCase(Locale.ROOT).matches("bereq\\.http\\.(?!host$).*")) {
                    state.fields().write(each, pathConditions());
                }
            }
        }.walk(sub);
    }

    private void translateDeliver() {
        new Walker(state.vcl()) {
            @Override
            void statement(Statement each, List<Condition> around) {
                String target = each.target().toLowerCase(Locale.ROOT);
                boolean unset = each.kind().equals("unset");
                if (each.kind().equals("return")) {
                    each.note("responses are delivered by default");
                } else if (each.kind().startsWith("std.")) {
                    each.note("the access log has the result of each request");
                } else if (List.of("set", "unset").contains(each.kind())
                        && !target.matches("resp\\.http\\.(via|server|x-varnish|x-url|x-host|xkey)")
                        && state.fields().writeIfPossible(each, pathConditions())) {
                    each.markHandled();
                } else if (!unset && target.matches("resp\\.http\\.x-(varnish-)?(cache|served-by|hits|age).*")) {
                    each.note("Cache-Status in responses has the result of the cache lookup");
                } else if (unset && target.equals("resp.http.via")) {
                    state.set("via.response", "none", each.markHandled());
                } else if (unset && target.equals("resp.http.server")) {
                    state.set("via.server", "off", each.markHandled());
                } else if (unset && target.matches("resp\\.http\\.(x-varnish|x-url|x-host|x-cache.*|xkey)")) {
                    each.note("Millrace does not send the field");
                } else {
                    state.fields().write(each, pathConditions());
                }
            }
        }.walk("vcl_deliver");
    }

    /** Adds notes to the statements that no translator has handled. */
    private static void addRemainingNotes(String sub, List<Statement> statements) {
        for (Statement each : statements) {
            if (!each.isHandled()) {
                boolean isDefaultAction = each.kind().equals("return")
                        && List.of("deliver", "fetch", "lookup", "hash", "miss", "ok", "pipe", "pass")
                                .contains(each.target());
                if (isDefaultAction) {
                    each.note("'" + each.target() + "' is what Millrace does in this case");
                } else if (each.isBranch()) {
                    each.note("see the statements in the block");
                } else if (each.kind().equals("call")) {
                    each.note("see the statements of the subroutine");
                } else if (sub.endsWith("_purge")) {
                    each.note("Millrace answers purges itself");
                } else if (sub.startsWith("vcl_synth") || sub.startsWith("vcl_backend_error")) {
                    each.notMapped("the importer does not translate the statement; write error_pages, or an element of"
                            + " rules with answer");
                } else if (sub.equals("vcl_pipe")
                        && each.target().toLowerCase(Locale.ROOT).matches("bereq\\.http\\.(connection|upgrade)")) {
                    each.note("Millrace writes Connection and Upgrade itself");
                } else if (sub.startsWith("vcl_")) {
                    each.notMapped("statements of " + sub + " have no equivalent");
                } else {
                    each.note("no subroutine calls " + sub);
                }
            }
            addRemainingNotes(sub, each.body());
        }
    }
}
