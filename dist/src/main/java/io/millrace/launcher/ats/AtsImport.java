package io.millrace.launcher.ats;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.parent.ForwardedParents;
import io.millrace.launcher.ats.parent.GroupWriter;
import io.millrace.launcher.ats.parent.ParentImport;
import io.millrace.launcher.ats.parent.StrategiesImport;
import io.millrace.launcher.ats.remap.IpAllowImport;
import io.millrace.launcher.ats.remap.Plugins;
import io.millrace.launcher.ats.remap.PushFilter;
import io.millrace.launcher.ats.remap.RemapImport;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.ats.remap.RemapRules;
import io.millrace.launcher.ats.remap.RemapYamlImport;
import io.millrace.launcher.ats.settings.CertificateImport;
import io.millrace.launcher.ats.settings.ListenImport;
import io.millrace.launcher.ats.settings.LogImport;
import io.millrace.launcher.ats.settings.RecordsImport;
import io.millrace.launcher.ats.settings.ServerTlsImport;
import io.millrace.launcher.ats.settings.SpecialRecords;
import io.millrace.launcher.ats.settings.SplitDnsImport;
import io.millrace.launcher.ats.settings.StorageImport;
import io.millrace.launcher.ats.source.Records;
import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.launcher.importing.source.Printable;
import io.millrace.launcher.importing.source.SourceFile;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.ConfigProblem.Severity;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The importer of a configuration directory of Traffic Server (ATS). Stateless. */
public final class AtsImport {
    private static final List<String> FILES = List.of(
            "records.yaml",
            "records.config",
            "remap.config",
            "remap.yaml",
            "cache.config",
            "storage.config",
            "storage.yaml",
            "volume.config",
            "hosting.config",
            "parent.config",
            "strategies.yaml",
            "ip_allow.yaml",
            "ip_allow.config",
            "ssl_multicert.config",
            "ssl_multicert.yaml",
            "splitdns.config",
            "plugin.config",
            "plugin.yaml",
            "logging.yaml",
            "logging.config",
            "logs_xml.config",
            "sni.yaml",
            "ssl_server_name.yaml",
            "socks.config",
            "icp.config",
            "cluster.config",
            "vaddrs.config",
            "update.config",
            "congestion.config",
            "virtual_hosts.config");

    /**
     * Limit of validation rounds. Each round removes all elements that the validator refuses. The next round removes
     * elements that refer to removed ones.
     */
    private static final int ROUNDS_MAX = 50;

    private AtsImport() {}

    /**
     * Imports a directory.
     *
     * @param prefix base of relative paths of Traffic Server; null to derive it from the location of the directory
     */
    public static ImportResult read(Path directory, @Nullable Path prefix) {
        ImportState state = new ImportState(directory, prefix);
        if (!Files.isDirectory(directory)) {
            String what = Files.exists(directory) ? "is not a directory" : "no such directory";
            return new ImportResult(null, List.of(), List.of(directory + ": " + what), List.of(), List.of());
        }
        if (FILES.stream().noneMatch(state::has)) {
            return new ImportResult(
                    null,
                    List.of(),
                    List.of(
                            directory
                                    + ": contains no configuration file of Traffic Server, such as records.yaml or remap.config"),
                    List.of(),
                    List.of());
        }
        readAll(state);
        state.files().values().forEach(SourceFile::addUnprocessedLines);
        List<String> files = List.copyOf(state.files().keySet());
        if (!state.problems().isEmpty()) {
            return new ImportResult(null, lines(state), List.copyOf(state.problems()), List.of(), files);
        }
        removeRefusedElements(state);
        if (!state.problems().isEmpty()) {
            return new ImportResult(null, lines(state), List.copyOf(state.problems()), List.of(), files);
        }
        state.draft().recordKeys();
        List<ImportedLine> lines = lines(state);
        String text = text(state, lines);
        List<String> warnings = new ArrayList<>(state.warnings());
        for (ConfigProblem problem : check(state, text)) {
            if (problem.severity() == Severity.ERROR) {
                throw new IllegalStateException("the validator refuses the imported configuration: " + problem.text());
            }
            warnings.add(problem.text());
        }
        return new ImportResult(text, lines, List.of(), List.copyOf(warnings), files);
    }

    private static void readAll(ImportState state) {
        RecordsImport records = new RecordsImport(state);
        records.read();
        CertificateImport certificates = new CertificateImport(state);
        certificates.read();
        new ListenImport(state, certificates).read();
        certificates.finish();
        new ServerTlsImport(state).read();
        new SpecialRecords(state).read();
        IpAllowImport ipAllow = new IpAllowImport(state);
        ipAllow.read();
        StorageImport storage = new StorageImport(state);
        storage.read();
        RemapRules rules = new RemapRules(state, ipAllow.filters(), storage);
        if (state.has("remap.yaml")) {
            new RemapYamlImport(state, rules).read();
            state.markNotMapped("remap.config", "the file is not used: Traffic Server reads remap.yaml, which exists");
        } else {
            new RemapImport(state, rules).read();
        }
        storage.finish();
        GroupWriter groups = new GroupWriter(state);
        new StrategiesImport(state, groups).read(rules.forwarding());
        new ParentImport(state, groups).read(rules.forwarding());
        boolean forward = !state.records().isOn("url_remap.remap_required", true);
        explainConnectPorts(state, forward, !rules.forwarding().isEmpty());
        new CacheConfigImport(state, new CacheRuleHosts(rules.forwarding(), forward)).read();
        SplitDnsImport.read(state);
        new LogImport(state).read();
        Plugins.read(state, rules);
        // SniImport runs after the imports of other rules, since it adds rules to theirs.
        new SniImport(state, certificates).read(rules.all());
        rules.finish();
        PushFilter.write(state, rules.filters());
        reportUnusedFiles(state);
        records.finish(forward || rules.forwarding().stream().anyMatch(RemapRule::isToSecure));
    }

    /**
     * Explains the permitted ports of CONNECT, which {@link IpAllowImport} imports. Traffic Server, but not Millrace,
     * also applies remap rules to CONNECT.
     */
    private static void explainConnectPorts(ImportState state, boolean forward, boolean hasRules) {
        Records.Rec ports = state.records().getAndMarkProcessed("http.connect_ports");
        if (ports == null || ports.value() == null) {
            return;
        }
        if (hasRules) {
            ports.entry().notMapped("CONNECT does not use rules of remap; see forward_proxy");
        } else if (!forward) {
            ports.entry().note("forward_proxy is off: requests for hosts without a remap rule are not forwarded");
        }
    }

    private static void reportUnusedFiles(ImportState state) {
        for (String later : ImportState.AFTER_VERSION_10) {
            state.markNotMapped(later, "the file belongs to a version after 10 and is not read");
        }
        state.markNotMapped("jsonrpc.yaml", "the file configures traffic_ctl; Millrace has millctl and the admin API");
        state.markNotMapped("plugin.yaml", "Millrace loads no plugins of Traffic Server");
        if (state.records().isOn("socks.socks_needed", false)) {
            state.markNotMapped("socks.config", "Millrace does not connect to origins through SOCKS");
        } else {
            state.noteEachLine("socks.config", "proxy.config.socks.socks_needed is off");
        }
        state.markNotMapped("icp.config", "Millrace does not support ICP");
        state.markNotMapped("cluster.config", "Traffic Server itself has no cluster since version 8");
        state.markNotMapped(
                "vaddrs.config",
                "for virtual addresses that move between machines use keepalived or a similar program");
        state.markNotMapped("update.config", "Millrace fetches nothing that no client has requested");
        state.markNotMapped("congestion.config", "write a group of origins with markdown, see docs/guide/origins.md");
        state.markNotMapped("virtual_hosts.config", "write rules of remap for the hosts");
    }

    private static List<ImportedLine> lines(ImportState state) {
        List<ImportedLine> lines = new ArrayList<>();
        state.files().values().forEach(file -> file.entries().forEach(entry -> lines.add(entry.finish())));
        return lines;
    }

    /** Removes elements until the validator accepts the configuration, and marks their lines as not mapped. */
    private static void removeRefusedElements(ImportState state) {
        for (int round = 0; round < ROUNDS_MAX; round++) {
            List<ConfigProblem> errors = check(state, state.draft().text(List.of(), List.of())).stream()
                    .filter(problem -> problem.severity() == Severity.ERROR)
                    .toList();
            if (errors.isEmpty()) {
                return;
            }
            refuse(state, errors);
        }
        throw new IllegalStateException("the validator still refuses something after " + ROUNDS_MAX + " rounds");
    }

    private static List<ConfigProblem> check(ImportState state, String text) {
        return ConfigLoader.parse(text, "millrace.yaml", state.directory().toAbsolutePath(), Map.of())
                .problems();
    }

    private static void refuse(ImportState state, List<ConfigProblem> errors) {
        List<Draft.Part> parts = new ArrayList<>();
        for (ConfigProblem error : errors) {
            Draft.Part part = state.draft().find(error.path());
            if (part == null) {
                throw new IllegalStateException("the import has no element to remove for the error: " + error.text());
            }
            boolean protectsAccess = error.path().startsWith("access.filters") || isForClientCertificates(part);
            if (ForwardedParents.isGuard(error.path())) {
                part.node().allSources().forEach(source -> ForwardedParents.disableForwarding(state, source));
            }
            for (Entry source : part.node().allSources()) {
                source.notMapped(error.message());
                if (protectsAccess) {
                    // An error: without the filter all clients would have access.
                    state.problem(source, error.message());
                }
            }
            if (part.node().isElement() && part.node().field("filters") != null && !protectsAccess) {
                if (part.node().denyAllClients(error.path())) {
                    part.node()
                            .sources()
                            .forEach(source -> source.notMapped("requests that its filters match are denied instead"));
                    continue;
                }
                part.node()
                        .sources()
                        .forEach(
                                source -> source.notMapped(
                                        "its filters are dropped too: its requests may now match a wider rule without filters"));
            }
            parts.add(part);
        }
        parts.forEach(Draft.Part::remove);
        if (state.draft().elements("listen").isEmpty()) {
            state.draft()
                    .root()
                    .addElement("listen")
                    .put("address", ":8080")
                    .remark("No listening address of Traffic Server could be imported.");
        }
    }

    private static boolean isForClientCertificates(Draft.Part part) {
        DraftNode level = part.node().find("client_certificates");
        return level != null && "require".equals(level.text());
    }

    private static String text(ImportState state, List<ImportedLine> lines) {
        List<String> head = new ArrayList<>();
        head.add("Imported from Traffic Server's " + state.directory()
                + " by millctl import ats. The comment after a key names its source.");
        List<String> tail = new ArrayList<>();
        for (ImportedLine line : lines) {
            if (line.outcome() == Outcome.NOT_MAPPED) {
                tail.add(line.place() + "  " + Printable.cut(line.text(), 160) + "  -> " + line.note());
            }
        }
        head.addAll(state.warnings());
        if (!tail.isEmpty()) {
            head.add(tail.size()
                    + (tail.size() == 1
                            ? " line has no equivalent or only a partial one; it is listed at the end."
                            : " lines have no equivalent or only a partial one; they are listed at the end."));
            tail.add(0, "Not mapped, or mapped only in part:");
        }
        return state.draft().text(head, tail);
    }
}
