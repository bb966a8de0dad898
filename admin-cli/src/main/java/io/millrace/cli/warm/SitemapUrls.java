package io.millrace.cli.warm;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.xml.XMLConstants;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * The URLs of a sitemap, and of the sitemaps that an index names (sitemaps.org, version 0.9). A sitemap may be a text
 * with one URL on each line, and may be compressed by gzip. DTDs and entities are refused. Confined to one thread.
 */
public final class SitemapUrls implements UrlSource {
    /** Limit of a sitemap in bytes, uncompressed, by the protocol of sitemaps. */
    static final long BYTES_MAX = 50L << 20;

    /**
     * Limit of the different sitemaps that all indexes of a run name together, because their URLs are kept in memory. The
     * protocol has this limit for one index.
     */
    static final int CHILDREN_MAX = 50_000;

    /** Limit of indexes inside each other; the protocol permits one. */
    static final int DEPTH_MAX = 3;

    /** Limit of XML elements inside each other; sitemaps with extensions use less than ten. */
    static final int ELEMENT_DEPTH_MAX = 32;

    /** Limit of the characters in the URLs of all sitemaps that indexes name; they are kept in memory. */
    static final int CHILD_CHARACTERS_MAX = 8 << 20;

    private static final int LOC_LENGTH_MAX = WarmUrl.LENGTH_MAX;
    /** Depth of the {@code loc} element of a page or sitemap; the elements of images and videos are deeper. */
    private static final int LOC_DEPTH = 3;

    private final Documents documents;
    private final Deque<Child> waiting = new ArrayDeque<>();
    private final Set<String> known = new HashSet<>();
    private int children;
    private long knownCharacters;
    private @Nullable Opened current;

    /** Opens sitemaps by URL. */
    @FunctionalInterface
    public interface Documents {
        /**
         * Opens a document, decompressed.
         *
         * @throws IOException if the document cannot be opened; the message names it
         */
        InputStream open(String url) throws IOException;
    }

    /**
     * A sitemap, named for messages.
     *
     * @param name its URL, or the name of its stream
     * @param depth number of indexes above it
     */
    private record Child(String name, int depth) {}

    /** A sitemap that is being read: as XML, or as lines. */
    private record Opened(
            Child from,
            InputStream in,
            @Nullable XMLStreamReader xml,
            @Nullable LineUrls lines,
            Place place) {}

    /** Position in an XML document. */
    private static final class Place {
        private int depth;
        private String root = "";
    }

    private SitemapUrls(Documents documents) {
        this.documents = documents;
    }

    /** Reads the sitemap at a URL. */
    public static SitemapUrls at(String url, Documents documents) {
        SitemapUrls urls = new SitemapUrls(documents);
        urls.waiting.add(new Child(url, 0));
        urls.known.add(url);
        return urls;
    }

    /**
     * Reads a sitemap from a stream.
     *
     * @param name for messages
     * @param in decompressed; owned by the result
     * @param documents opens the sitemaps that an index names
     */
    public static SitemapUrls in(String name, InputStream in, Documents documents) throws IOException {
        SitemapUrls urls = new SitemapUrls(documents);
        urls.current = urls.opened(new Child(name, 0), in);
        return urls;
    }

    @Override
    public @Nullable Item next() throws IOException {
        while (true) {
            Opened open = current;
            if (open == null) {
                Child child = waiting.poll();
                if (child == null) {
                    return null;
                }
                current = opened(child, documents.open(child.name()));
                continue;
            }
            String url = next(open);
            if (url == null) {
                open.in().close();
                current = null;
            } else if (open.place().root.equals("sitemapindex")) {
                add(open.from(), url);
            } else {
                return Item.of(url);
            }
        }
    }

    private void add(Child index, String url) throws IOException {
        if (index.depth() + 1 > DEPTH_MAX) {
            throw new IOException(index.name() + ": more than " + DEPTH_MAX + " indexes of sitemaps inside each other");
        }
        if (known.add(url)) {
            if (++children > CHILDREN_MAX) {
                throw new IOException(index.name() + ": all indexes of this run name more than " + CHILDREN_MAX
                        + " sitemaps together; warm them in several runs");
            }
            knownCharacters += url.length();
            if (knownCharacters > CHILD_CHARACTERS_MAX) {
                throw new IOException(index.name() + ": the URLs of all sitemaps of this run have more than "
                        + CHILD_CHARACTERS_MAX + " characters together");
            }
            waiting.add(new Child(url, index.depth() + 1));
        }
    }

    private static @Nullable String next(Opened open) throws IOException {
        LineUrls lines = open.lines();
        XMLStreamReader xml = open.xml();
        if (lines != null) {
            Item item = lines.next();
            return item == null ? null : item.url();
        }
        try {
            return xml == null ? null : nextLoc(open.from().name(), xml, open.place());
        } catch (XMLStreamException e) {
            Throwable cause = e.getNestedException();
            String why = cause instanceof IOException ? cause.getMessage() : firstLine(e);
            throw new IOException(open.from().name() + ": not a valid sitemap: " + why, e);
        }
    }

    private static String firstLine(XMLStreamException e) {
        String text = String.valueOf(e.getMessage());
        int message = text.indexOf("Message: ");
        String said = message < 0 ? text : text.substring(message + 9);
        String place = e.getLocation() == null
                ? ""
                : "line " + e.getLocation().getLineNumber() + ", column "
                        + e.getLocation().getColumnNumber() + ": ";
        return place + said;
    }

    private static @Nullable String nextLoc(String name, XMLStreamReader xml, Place place)
            throws XMLStreamException, IOException {
        StringBuilder loc = null;
        while (xml.hasNext()) {
            switch (xml.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    place.depth++;
                    if (place.depth > ELEMENT_DEPTH_MAX) {
                        throw new IOException(
                                name + ": more than " + ELEMENT_DEPTH_MAX + " XML elements inside each other");
                    }
                    if (place.depth == 1) {
                        place.root = root(name, xml.getLocalName());
                    } else if (place.depth == LOC_DEPTH && xml.getLocalName().equals("loc")) {
                        loc = new StringBuilder();
                    }
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    place.depth--;
                    if (loc != null && place.depth < LOC_DEPTH) {
                        String url = loc.toString().strip();
                        if (!url.isEmpty()) {
                            return url;
                        }
                        loc = null;
                    }
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> {
                    if (loc != null && loc.length() + xml.getTextLength() <= LOC_LENGTH_MAX) {
                        loc.append(xml.getTextCharacters(), xml.getTextStart(), xml.getTextLength());
                    } else if (loc != null) {
                        throw new IOException(name + ": a URL is longer than " + LOC_LENGTH_MAX + " characters");
                    }
                }
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw new IOException(name + ": not a valid sitemap: it has a DTD or an entity, which are refused");
                default -> {}
            }
        }
        return null;
    }

    private static String root(String name, String element) throws IOException {
        if (!element.equals("urlset") && !element.equals("sitemapindex")) {
            throw new IOException(
                    name + ": not a sitemap: the root is <" + element + ">, expected <urlset> or <sitemapindex>");
        }
        return element;
    }

    private Opened opened(Child child, InputStream in) throws IOException {
        BufferedInputStream limited = new BufferedInputStream(new LimitedMarkup(child.name(), in, BYTES_MAX), 16 << 10);
        boolean isDone = false;
        try {
            limited.mark(64);
            byte[] begin = limited.readNBytes(64);
            limited.reset();
            Opened opened = isXml(begin)
                    ? new Opened(child, limited, factory().createXMLStreamReader(limited), null, new Place())
                    : new Opened(child, limited, null, LineUrls.list(child.name(), limited), new Place());
            isDone = true;
            return opened;
        } catch (XMLStreamException e) {
            throw new IOException(child.name() + ": not a valid sitemap: " + firstLine(e), e);
        } finally {
            if (!isDone) {
                limited.close();
            }
        }
    }

    /** Whether the first visible character is the beginning of a tag, in any encoding that XML parsers detect. */
    private static boolean isXml(byte[] begin) {
        List<Integer> invisible = List.of(0, 0xef, 0xbb, 0xbf, 0xfe, 0xff, (int) ' ', (int) '\t', 13, 10);
        for (byte octet : begin) {
            if (!invisible.contains(octet & 0xff)) {
                return octet == '<';
            }
        }
        return false;
    }

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_REPLACING_ENTITY_REFERENCES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, false);
        factory.setProperty(XMLConstants.ACCESS_EXTERNAL_DTD, "");
        return factory;
    }

    @Override
    public void close() throws IOException {
        Opened open = current;
        if (open != null) {
            open.in().close();
        }
        waiting.clear();
    }
}
