package io.millrace.cli.log;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects statistics of access logs for each site, like Traffic Server's {@code traffic_logstats}. A site is a host of
 * the requested URLs. A line of a sampled log counts as the number of requests that it represents. Confined to one
 * thread.
 */
public final class LogStats {
    /** Limit of hosts that are counted separately, since clients can invent any number of hosts. */
    private static final int HOSTS_MAX = 4000;

    /** Limit of characters of a host, since DNS allows no longer name. */
    private static final int HOST_LENGTH_MAX = 255;

    private final SiteStats total = new SiteStats();
    private final Map<String, SiteStats> sites = new HashMap<>();
    private final SiteStats others = new SiteStats();
    private final TopUrls urls;
    private long unknownLines;
    private long sampledLines;
    private long firstMillis = Long.MAX_VALUE;
    private long lastMillis = Long.MIN_VALUE;

    /** A host with its statistics. Their counts increase while further lines are added. */
    public record Site(String host, SiteStats stats) {}

    /** @param urls limit of the most requested URLs in the result; 0 for none */
    public LogStats(int urls) {
        this.urls = new TopUrls(urls);
    }

    /** Adds a line. Null means a line in an unknown format, which is only counted. */
    public void add(@Nullable LogLine line) {
        if (line == null) {
            unknownLines++;
            return;
        }
        total.add(line);
        sampledLines += line.sample() > 1 ? 1 : 0;
        String host = line.host();
        if (host != null) {
            site(host.length() > HOST_LENGTH_MAX ? host.substring(0, HOST_LENGTH_MAX) : host)
                    .add(line);
        }
        urls.add(line);
        if (line.timeMillis() >= 0) {
            firstMillis = Math.min(firstMillis, line.timeMillis());
            lastMillis = Math.max(lastMillis, line.timeMillis());
        }
    }

    private SiteStats site(String host) {
        SiteStats site = sites.get(host);
        if (site == null) {
            if (sites.size() >= HOSTS_MAX) {
                return others;
            }
            site = new SiteStats();
            sites.put(host, site);
        }
        return site;
    }

    /** The statistics of all sites together. */
    public SiteStats total() {
        return total;
    }

    /** Returns at most {@code max} sites with the most requests, in descending order. */
    public List<Site> sites(int max) {
        List<Site> all = new ArrayList<>();
        sites.forEach((host, stats) -> all.add(new Site(host, stats)));
        all.sort(Comparator.comparingLong((Site site) -> site.stats().all().requests())
                .reversed()
                .thenComparing(Site::host));
        return List.copyOf(all.subList(0, Math.min(max, all.size())));
    }

    /** The number of separately counted sites. */
    public int siteCount() {
        return sites.size();
    }

    /** The number of requests for hosts beyond the limit of separately counted hosts. */
    public long otherRequests() {
        return others.all().requests();
    }

    /** The most requested URLs. */
    public List<TopUrls.Entry> urls() {
        return urls.top();
    }

    /** The number of lines in an unknown format. */
    public long unknownLines() {
        return unknownLines;
    }

    /** The number of lines that represent more than one request each. Counts with such lines are estimates. */
    public long sampledLines() {
        return sampledLines;
    }

    /** The earliest arrival in epoch milliseconds; -1 for none. */
    public long firstMillis() {
        return firstMillis == Long.MAX_VALUE ? -1 : firstMillis;
    }

    /** The latest arrival in epoch milliseconds; -1 for none. */
    public long lastMillis() {
        return lastMillis == Long.MIN_VALUE ? -1 : lastMillis;
    }
}
