package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.warm.InventoryUrls;
import io.millrace.cli.warm.LineUrls;
import io.millrace.cli.warm.SitemapUrls;
import io.millrace.cli.warm.UrlSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The URLs that the options of {@code cache warm} name. Confined to one thread. */
final class WarmInput {
    private static final String PAGE = "/v1/cache/list?limit=1000";
    private static final int TARGET_LENGTH_MAX = 1024;

    private final CacheWarmCommand command;
    private final AdminClient client;
    private final SitemapUrls.Documents documents;
    private @Nullable LineUrls log;
    private @Nullable InventoryUrls inventory;

    WarmInput(CacheWarmCommand command, AdminClient client, SitemapUrls.Documents documents) {
        this.command = command;
        this.client = client;
        this.documents = documents;
    }

    /**
     * Returns the option and the name of the input. A later run with {@code --resume} compares them with its own input.
     */
    String name() {
        String sitemap = command.sitemap();
        String list = command.list();
        if (sitemap != null) {
            return "--sitemap " + (isUrl(sitemap) ? sitemap : absolutePath(sitemap));
        }
        return list != null
                ? "--list " + absolutePath(list)
                : "--access-log " + absolutePath(String.valueOf(command.accessLog()));
    }

    private static String absolutePath(String file) {
        return file.equals("-")
                ? file
                : Path.of(file).toAbsolutePath().normalize().toString();
    }

    private static boolean isUrl(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        return lower.startsWith("http://") || lower.startsWith("https://");
    }

    /** Opens the input; the result is owned by the caller. */
    UrlSource open() throws IOException, CommandFailure, AdminClientException {
        String sitemap = command.sitemap();
        String list = command.list();
        String accessLog = command.accessLog();
        if (sitemap != null) {
            return isUrl(sitemap)
                    ? SitemapUrls.at(sitemap, documents)
                    : SitemapUrls.in(sitemap, opened(sitemap), documents);
        }
        if (list != null) {
            return LineUrls.list(list, opened(list));
        }
        if (accessLog != null) {
            log = LineUrls.accessLog(accessLog, opened(accessLog), command.base());
            return log;
        }
        inventory = new InventoryUrls(pages(command.tags().isEmpty() ? ofPurge() : where(command.tags())));
        return inventory;
    }

    private InputStream opened(String file) throws IOException {
        return LineUrls.open(file, command.invoked().environment().input());
    }

    private InventoryUrls.Pages pages(String condition) {
        return after -> {
            String place = after == null ? "" : "&after=" + TargetUrl.encoded(after);
            try {
                return command.read(client.get(PAGE + condition + place));
            } catch (AdminClientException e) {
                throw new IOException(e.message(), e);
            } catch (CommandFailure e) {
                throw new IOException(String.valueOf(e.getMessage()), e);
            }
        };
    }

    private static String where(List<String> tags) {
        StringBuilder where = new StringBuilder("tag in (");
        for (String tag : tags) {
            where.append(where.charAt(where.length() - 1) == '(' ? "" : ", ").append('"');
            where.append(tag.replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
        }
        return parameter("where", where.append(')').toString());
    }

    private static String parameter(String name, String value) {
        return "&" + name + "=" + TargetUrl.encoded(value);
    }

    /** Returns the condition for the objects that a purge covers. */
    private String ofPurge() throws AdminClientException, CommandFailure {
        String id = command.purged();
        JsonObject purge = command.read(client.get(PurgeShowCommand.target(id)));
        String scope = purge.text("scope", "");
        String target = purge.text("target", "");
        if (target.length() >= TARGET_LENGTH_MAX) {
            throw new CommandFailure(
                    ExitCode.USAGE, "the record of purge " + id + " has only the beginning of its target; use --tag");
        }
        return switch (scope) {
            case "tag" -> where(tagsOf(target)) + ofSite(purge.text("site"));
            case "pattern" -> parameter("where", target);
            case "host" -> parameter("host", target);
            case "prefix" -> parameter("regex", beginningWith(target));
            case "url" -> parameter("where", whereUrl(target));
            case "all" -> "";
            default ->
                throw new CommandFailure(
                        ExitCode.USAGE,
                        "purge " + id + " is of the kind " + scope + ", whose objects cannot be listed; use --list");
        };
    }

    /** Returns the condition for the responses of a site; empty for every site. */
    private static String ofSite(@Nullable String site) {
        return site == null ? "" : parameter("site", site);
    }

    /**
     * Returns the condition for one URL. A purge of a URL without a port covers http and https, even if the record of
     * the purge names only one of them.
     */
    private static String whereUrl(String url) {
        String text = url.replace("\\", "\\\\").replace("\"", "\\\"");
        if (hasPort(url)) {
            return "url == \"" + text + "\"";
        }
        String rest = text.substring(text.indexOf("://"));
        return "url in (\"http" + rest + "\", \"https" + rest + "\")";
    }

    /** Returns a regular expression for the URLs that begin with a URL; without a port, for http and https. */
    private static String beginningWith(String url) {
        String rest = url.substring(url.indexOf("://")).replaceAll("[\\\\.+*?()\\[\\]{}|^$]", "\\\\$0");
        return '^' + (hasPort(url) ? url.substring(0, url.indexOf("://")) : "https?") + rest;
    }

    private static boolean hasPort(String url) {
        return url.matches("[a-z]+://[^/]*:[0-9]+(/.*)?");
    }

    /** Returns the tags in a text such as {@code a, b of every site}. */
    private static List<String> tagsOf(String target) {
        int end = target.lastIndexOf(" of ");
        return List.of((end < 0 ? target : target.substring(0, end)).split(", ", -1));
    }

    /** Returns messages about log lines and objects that were left out. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (log != null && log.withoutHost() > 0) {
            notes.add(log.withoutHost() + " lines of the log have no host; name it with --base https://HOST");
        }
        if (inventory != null && !inventory.isWhole()) {
            notes.add("the inventory (list of stored objects) is not complete, so objects may be missing");
        }
        return notes;
    }
}
