package io.millrace.launcher.squid;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** The importer of a Squid configuration. Stateless. */
public final class SquidImport {
    private SquidImport() {}

    /**
     * Imports a file, with the files that it includes.
     *
     * @param path the file {@code squid.conf}, or its directory
     */
    public static ImportResult read(Path path) {
        Path file = Files.isDirectory(path) ? path.resolve("squid.conf") : path;
        if (!Files.exists(file)) {
            return Workspace.failure(file + ": no such file");
        }
        Path parent = file.toAbsolutePath().getParent();
        Path base = Files.isDirectory(path) ? path : parent == null ? file : parent;
        Workspace workspace = new Workspace("Squid", "millctl import squid", base);
        SquidReader reader = new SquidReader(workspace);
        reader.read(file, 0);
        if (workspace.problems().isEmpty()) {
            convert(workspace, reader);
        }
        return workspace.finish();
    }

    private static void convert(Workspace workspace, SquidReader reader) {
        List<SquidLine> lines = reader.lines();
        Draft draft = workspace.draft();
        Acls acls = new Acls(reader);
        Ports ports = new Ports(workspace);
        ports.read(lines);
        Peers peers = new Peers(workspace, acls, lines);
        boolean forward = ports.isForward() || ports.accelerator() == null;
        AccessImport access = new AccessImport(workspace, acls, lines, forward);
        access.read();
        if (ports.accelerator() != null || peers.hasOrigins()) {
            List<String> schemes = ports.schemes().isEmpty() ? List.of("http") : ports.schemes();
            Set<String> allowed = access.domains();
            peers.writeRules(allowed, ports.accelerator(), schemes);
        }
        peers.writeParents();
        Refresh.read(workspace, lines);
        new HeaderImport(draft.root(), acls).read(lines);
        new Settings(workspace).read(lines, acls);
        peers.noteUnused();
        writeDefaults(draft);
    }

    /** Writes the defaults of Squid that differ from Millrace's, for keys that are not set. */
    private static void writeDefaults(Draft draft) {
        draft.setDefault("cache.max_object_size", "4MiB", "Squid", "maximum_object_size 4 MB");
        draft.setDefault("cache.heuristic_min_lifetime", "0", "Squid", "refresh_pattern . 0 20% 4320");
        draft.setDefault("cache.heuristic_max_lifetime", "3d", "Squid", "refresh_pattern . 0 20% 4320");
        draft.setDefault("cache.heuristic_lm_factor", "0.2", "Squid", "refresh_pattern . 0 20% 4320");
        draft.setDefault("cache.unshared_fields", "[Set-Cookie]", "Squid", "hits have no Set-Cookie");
        draft.setDefault("cache.leak_guard", "warn", "Squid", "it has no leak guard");
        draft.setDefault("timeouts.origin_connect", "1m", "Squid", "connect_timeout 1 minute");
        draft.setDefault("timeouts.origin_first_byte", "15m", "Squid", "read_timeout 15 minutes");
        draft.setDefault("timeouts.origin_idle", "15m", "Squid", "read_timeout 15 minutes");
        draft.setDefault("timeouts.client_header", "5m", "Squid", "request_timeout 5 minutes");
        draft.setDefault("limits.request_header", "64KiB", "Squid", "request_header_max_size 64 KB");
    }
}
