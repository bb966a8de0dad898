package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.NginxReader;
import io.millrace.launcher.nginx.syntax.Scope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The importer of an nginx configuration. Stateless. */
public final class NginxImport {
    private NginxImport() {}

    /**
     * Imports a directory or a file.
     *
     * @param path a directory such as {@code /etc/nginx}, or a file with any part of a configuration
     * @param prefix base of relative paths; null for the imported directory, or the directory of the file
     */
    public static ImportResult read(Path path, @Nullable Path prefix) {
        if (!Files.exists(path)) {
            return Workspace.failure(path + ": no such file or directory");
        }
        List<Path> files = files(path);
        if (files.isEmpty()) {
            return Workspace.failure(path + ": contains no nginx.conf, and no file *.conf");
        }
        Path parent = path.toAbsolutePath().getParent();
        Path base = Files.isDirectory(path) ? path : parent == null ? path : parent;
        Workspace workspace = new Workspace("nginx", "millctl import nginx", base);
        Directive root = new Directive("main", List.of(), new Entry("", 1, 1, ""), true);
        NginxReader reader = new NginxReader(workspace, prefix == null ? base : prefix);
        for (Path each : files) {
            reader.read(each, root);
        }
        if (workspace.problems().isEmpty()) {
            convert(workspace, root);
        }
        return workspace.finish();
    }

    /** Returns the file nginx.conf of a directory. If it is missing, returns all files that describe sites. */
    private static List<Path> files(Path path) {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        Path main = path.resolve("nginx.conf");
        if (Files.isRegularFile(main)) {
            return List.of(main);
        }
        List<Path> found = new ArrayList<>();
        for (String folder : List.of("", "conf.d", "sites-enabled")) {
            try (Stream<Path> entries = Files.list(path.resolve(folder))) {
                entries.filter(Files::isRegularFile)
                        .filter(each -> folder.equals("sites-enabled")
                                || each.toString().endsWith(".conf"))
                        .sorted()
                        .forEach(found::add);
            } catch (IOException e) {
                // The directory does not exist or cannot be read, so it has no files to import.
            }
        }
        return List.copyOf(found);
    }

    private static void convert(Workspace workspace, Directive root) {
        List<Directive> blocks = root.children("http");
        Scope main = new Scope(null, root);
        // A file of conf.d has no block http, because nginx.conf includes it in that block.
        Scope http = blocks.isEmpty() ? main : new Scope(main, blocks.get(0));
        for (int i = 1; i < blocks.size(); i++) {
            blocks.get(i).notMapped("only the first block http is imported");
        }
        Servers servers = new Servers(http);
        Upstreams upstreams = new Upstreams(workspace, http);
        Headers headers = new Headers();
        new Listeners(workspace, servers.all()).write();
        RuleWriter rules = new RuleWriter(workspace, http, upstreams, headers, GeneralSettings.inactive(http));
        servers.all().forEach(rules::add);
        boolean single = servers.all().size() == 1;
        rules.finish(single ? List.of(http.block(), servers.all().get(0).scope().block()) : List.of(http.block()));
        upstreams.finish();
        if (!rules.proxied().isEmpty()) {
            headers.writeForwardedFields(workspace.draft());
        }
        List<Scope> scopes = new ArrayList<>();
        servers.all().forEach(each -> scopes.add(each.scope()));
        scopes.addAll(rules.proxied());
        new GeneralSettings(workspace, http, scopes).write();
        new Logs(workspace.draft(), http).write(scopes);
        Notes.finish(workspace, root.children());
    }
}
