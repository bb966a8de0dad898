package io.millrace.cli.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UrlSourcesTest {
    private static final String HEAD =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    @TempDir
    private Path directory;

    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> all(UrlSource source) throws IOException {
        try (source) {
            List<String> urls = new ArrayList<>();
            for (UrlSource.Item item = source.next(); item != null; item = source.next()) {
                urls.add(item.url());
            }
            return urls;
        }
    }

    private static SitemapUrls sitemap(String text) throws IOException {
        return SitemapUrls.in("map.xml", stream(text), url -> {
            throw new IOException(url + ": not expected");
        });
    }

    private static String problem(String text) {
        return assertThrows(IOException.class, () -> all(sitemap(text))).getMessage();
    }

    @Test
    void readsTheUrlsOfASitemapAndNotThoseOfImages() throws IOException {
        String text = HEAD + " xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n"
                + "<url><loc> http://a.example/?a=1&amp;b=2 </loc><lastmod>2026-01-01</lastmod>"
                + "<image:image><image:loc>http://a.example/i.png</image:loc></image:image></url>"
                + "<url><loc><![CDATA[http://a.example/c]]></loc></url><url><loc/></url></urlset>";
        assertEquals(List.of("http://a.example/?a=1&b=2", "http://a.example/c"), all(sitemap(text)));
    }

    @Test
    void readsTextSitemaps() throws IOException {
        assertEquals(
                List.of("http://a.example/1", "http://a.example/2"),
                all(sitemap("http://a.example/1\nhttp://a.example/2")));
    }

    @Test
    void readsTheSitemapsOfAnIndexOnce() throws IOException {
        Map<String, String> maps = Map.of(
                "http://a.example/index",
                "<sitemapindex><sitemap><loc>http://a.example/1.xml</loc></sitemap>"
                        + "<sitemap><loc>http://a.example/1.xml</loc></sitemap>"
                        + "<sitemap><loc>http://a.example/index</loc></sitemap>"
                        + "<sitemap><loc>http://a.example/2.xml</loc></sitemap></sitemapindex>",
                "http://a.example/1.xml",
                "<urlset><url><loc>http://a.example/p1</loc></url></urlset>",
                "http://a.example/2.xml",
                "<urlset><url><loc>http://a.example/p2</loc></url></urlset>");
        SitemapUrls urls = SitemapUrls.at("http://a.example/index", url -> stream(maps.get(url)));
        assertEquals(List.of("http://a.example/p1", "http://a.example/p2"), all(urls));
    }

    @Test
    void indexesInsideEachOtherAreLimited() {
        SitemapUrls urls = SitemapUrls.at(
                "http://a.example/0",
                url -> stream("<sitemapindex><sitemap><loc>" + url + "0</loc></sitemap></sitemapindex>"));
        IOException e = assertThrows(IOException.class, () -> all(urls));
        assertTrue(e.getMessage().contains("more than 3 indexes"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<!DOCTYPE u [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><urlset><url><loc>&x;</loc></url></urlset>",
                "<!DOCTYPE urlset SYSTEM \"http://127.0.0.1:1/x.dtd\"><urlset/>",
                "<!DOCTYPE u [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><urlset><url><loc>&b;</loc></url></urlset>",
                "<urlset><url><loc>&unknown;</loc></url></urlset>"
            })
    void dtdsAndEntitiesAreRefused(String text) {
        assertTrue(problem(text).contains("not a valid sitemap"), problem(text));
    }

    @Test
    void deepElementsAreRefused() throws IOException {
        int inside = SitemapUrls.ELEMENT_DEPTH_MAX - 2;
        String deep = "<urlset><url>" + "<a>".repeat(inside) + "</a>".repeat(inside) + "<loc>http://a.example/</loc>"
                + "</url></urlset>";
        assertEquals(List.of("http://a.example/"), all(sitemap(deep)));
        assertEquals(
                "map.xml: more than 32 XML elements inside each other",
                problem(deep.replace("<a></a>", "<a><a/></a>")));
    }

    @Test
    void theUrlsOfAllSitemapsInAnIndexAreLimited() {
        String path = "p".repeat(2000);
        StringBuilder index = new StringBuilder("<sitemapindex>");
        for (int i = 0; i <= SitemapUrls.CHILD_CHARACTERS_MAX / path.length(); i++) {
            index.append("<sitemap><loc>http://a.example/")
                    .append(path)
                    .append(i)
                    .append("</loc></sitemap>");
        }
        assertEquals(
                "map.xml: the URLs of all sitemaps of this run have more than 8388608 characters together",
                problem(index.append("</sitemapindex>").toString()));
    }

    /** Repeated names do not count. */
    @Test
    void theSitemapsOfAllIndexesAreLimitedTogether() throws IOException {
        StringBuilder index = new StringBuilder("<sitemapindex>");
        for (int i = 0; i < SitemapUrls.CHILDREN_MAX; i++) {
            index.append("<sitemap><loc>http://a.example/").append(i).append("</loc></sitemap>");
        }
        index.append("<sitemap><loc>http://a.example/0</loc></sitemap>");
        String whole = index + "</sitemapindex>";
        String more = index + "<sitemap><loc>http://a.example/more</loc></sitemap></sitemapindex>";
        String empty = "<urlset/>";
        SitemapUrls.Documents documents = url -> stream(url.endsWith("/more") ? more : empty);
        assertEquals(List.of(), all(SitemapUrls.in("map.xml", stream(whole), documents)));
        assertEquals(
                "map.xml: all indexes of this run name more than 50000 sitemaps together; warm them in several runs",
                problem(more));
        String two = "<sitemapindex><sitemap><loc>http://a.example/index</loc></sitemap></sitemapindex>";
        SitemapUrls nested =
                SitemapUrls.in("map.xml", stream(two), url -> stream(url.endsWith("/index") ? whole : empty));
        assertEquals(
                "http://a.example/index: all indexes of this run name more than 50000 sitemaps together; warm them in"
                        + " several runs",
                assertThrows(IOException.class, () -> all(nested)).getMessage());
    }

    @Test
    void invalidSitemapsAreNamedWithTheirPlace() {
        assertTrue(problem("<rss><channel/></rss>").contains("the root is <rss>"), problem("<rss/>"));
        assertTrue(problem("<urlset>\n<url></urlset>").contains("map.xml: not a valid sitemap: line 2"));
        assertTrue(problem("<urlset><url><loc>" + "x".repeat(9000) + "</loc></url></urlset>")
                .contains("8192"));
        assertTrue(problem("<urlset a=\"" + "x".repeat(70_000) + "\"/>").contains("longer than 65536 bytes"));
    }

    @Test
    void fetchesSitemapsThroughTheProxy() throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
            gzip.write("<urlset><url><loc>http://a.example/z</loc></url></urlset>".getBytes(StandardCharsets.UTF_8));
        }
        Path file = directory.resolve("map.xml.gz");
        Files.write(file, zipped.toByteArray());
        assertEquals(
                List.of("http://a.example/z"),
                all(SitemapUrls.in("map.xml.gz", InputFiles.open(file), url -> stream(""))));
        try (ScriptedProxy proxy = ScriptedProxy.of(Map.of(
                        "http://a.example/map.xml",
                        ScriptedProxy.response(
                                200,
                                "Cache-Status: millrace; hit; ttl=1\r\n",
                                "<urlset><url><loc>http://a.example/p</loc></url></urlset>"),
                        "http://a.example/gone",
                        ScriptedProxy.response(404, "Cache-Status: millrace; fwd=uri-miss\r\n", "")));
                ProxyLink link = new ProxyLink(List.of(), Duration.ofSeconds(20))) {
            ProxiedDocuments documents = new ProxiedDocuments(link, List.of(proxy.endpoint()));
            assertEquals(List.of("http://a.example/p"), all(SitemapUrls.at("http://a.example/map.xml", documents)));
            IOException gone = assertThrows(IOException.class, () -> documents.open("http://a.example/gone"));
            assertTrue(gone.getMessage().contains("status 404"), gone.getMessage());
            IOException foreign = assertThrows(IOException.class, () -> documents.open("http://b.example/x"));
            assertTrue(foreign.getMessage().contains("no rule"), foreign.getMessage());
        }
    }

    @Test
    void readsTheGetRequestsOfEveryLogFormat() throws IOException {
        String log = "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://a.example/squid - NONE/- text/html\n"
                + "1700000000.123 4 192.0.2.7 TCP_MISS/200 1720 POST http://a.example/post - NONE/- text/html\n"
                + "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /combined HTTP/1.1\" 200 1256 \"-\" \"curl\"\n"
                + "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET http://a.example/common HTTP/1.1\" 200 1\n"
                + "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /missing HTTP/1.1\" 404 1\n"
                + "{\"time\":\"2026-01-01T00:00:00Z\",\"status\":200,\"method\":\"GET\","
                + "\"url\":\"http://a.example/json\"}\n"
                + "garbage";
        LineUrls with = LineUrls.accessLog("log", stream(log), "https://b.example/");
        assertEquals(
                List.of(
                        "http://a.example/squid",
                        "https://b.example/combined",
                        "http://a.example/common",
                        "http://a.example/json"),
                all(with));
        assertEquals(3, with.skipped());
        LineUrls without = LineUrls.accessLog("log", stream(log), "");
        assertEquals(3, all(without).size());
        assertEquals(1, without.withoutHost());
    }

    @Test
    void readsPagesOfTheInventoryWithTheFieldsOfVariants() throws IOException {
        List<String> places = new ArrayList<>();
        InventoryUrls urls = new InventoryUrls(after -> {
            places.add(String.valueOf(after));
            String text = after == null
                    ? "{\"objects\":[{\"url\":\"http://a.example/1\","
                            + "\"variant\":\"Accept-Encoding: gzip; Origin absent\"}],"
                            + "\"complete\":true,\"next\":\"p2\"}"
                    : "{\"objects\":[{\"url\":\"http://a.example/2\"}],\"complete\":false,\"next\":null}";
            return JsonObject.parse(text.getBytes(StandardCharsets.UTF_8));
        });
        UrlSource.Item first = urls.next();
        assertEquals(List.of("Accept-Encoding: gzip"), first.fields());
        assertEquals("http://a.example/2", urls.next().url());
        assertNull(urls.next());
        assertEquals(List.of("null", "p2"), places);
        assertEquals(false, urls.isWhole());
    }

    @Test
    void fieldsOfVariantsAreParsed() {
        assertEquals(List.of("Cookie: a=1; b=2", "X: y"), InventoryUrls.fields("Cookie: a=1; b=2; X: y; Z absent"));
        assertNull(InventoryUrls.fields("Host: evil"));
        assertNull(InventoryUrls.fields("X: a\r\nY: b"));
    }

    @Test
    void parsesUrls() {
        assertEquals("http://a.example/", WarmUrl.parse("HTTP://A.example").text());
        assertEquals(
                "https://[::1]:8443/?x", WarmUrl.parse("https://[::1]:8443?x#y").text());
        assertEquals(8443, WarmUrl.parse("https://[::1]:8443/").effectivePort());
        List<String> wrong =
                List.of("", "/a", "ftp://a/", "http://", "http://a:99999/", "http://u@a/", "http://a/\u0007");
        for (String bad : wrong) {
            assertNull(WarmUrl.parse(bad), bad);
        }
    }
}
