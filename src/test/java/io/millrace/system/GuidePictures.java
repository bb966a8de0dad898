package io.millrace.system;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

/** The pictures of docs/guide: screens of the dashboard with at most 256 colours, so that the files are small. */
final class GuidePictures {
    private static final int WIDTH = 1100;
    private static final int COLOURS = 256;

    /** File, fragment, heading, and the height of the picture in pixels. */
    private record Picture(String file, String fragment, String heading, int height) {}

    private static final List<Picture> PICTURES = List.of(
            new Picture("overview", "overview", "Overview", 1000),
            new Picture("hosts", "overview", "Overview", 300),
            new Picture("inspector", "inspect?url=http://www.example.com/cart", "Inspector", 760),
            new Picture("latency", "latency", "Latency", 620),
            new Picture("events", "events", "Events", 520),
            new Picture("ram", "curve", "What RAM would bring", 620));

    private GuidePictures() {}

    static void write(Browser browser, Path directory) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        for (Picture picture : PICTURES) {
            browser.value("location.hash = " + Browser.quoted("#/" + picture.fragment()));
            browser.await("document.querySelector('h1').textContent === " + Browser.quoted(picture.heading()));
            browser.await("!/Loading\\.|Searching\\./.test(document.body.innerText)");
            if (picture.file().equals("inspector")) {
                browser.await("document.querySelector('[data-name=outcome]')");
            }
            Path file = directory.resolve(picture.file() + ".png");
            browser.picture(file, WIDTH, picture.height(), false);
            reduce(file, topOf(browser, picture), picture.height());
        }
    }

    /** Returns the first row of the picture: above the hosts, or the top of the page. */
    private static int topOf(Browser browser, Picture picture) throws IOException, InterruptedException {
        String panel = "document.querySelector('[data-name=hosts]').closest('section').getBoundingClientRect().top";
        return picture.file().equals("hosts")
                ? (int) browser.value("Math.floor(" + panel + " + window.scrollY) - 12")
                        .number()
                : 0;
    }

    /** Writes a part of the picture again with the most frequent colours; each other pixel gets the nearest of them. */
    private static void reduce(Path file, int top, int height) throws IOException {
        BufferedImage full = ImageIO.read(file.toFile());
        BufferedImage part = full.getSubimage(0, top, full.getWidth(), Math.min(height, full.getHeight() - top));
        Map<Integer, Integer> counts = new HashMap<>();
        for (int y = 0; y < part.getHeight(); y++) {
            for (int x = 0; x < part.getWidth(); x++) {
                counts.merge(part.getRGB(x, y) & 0xffffff, 1, Integer::sum);
            }
        }
        int[] palette = counts.entrySet().stream()
                .sorted(Map.Entry.<Integer, Integer>comparingByValue(Comparator.reverseOrder()))
                .limit(COLOURS)
                .mapToInt(Map.Entry::getKey)
                .toArray();
        Map<Integer, Integer> nearest = new HashMap<>();
        BufferedImage reduced = new BufferedImage(
                part.getWidth(),
                part.getHeight(),
                BufferedImage.TYPE_BYTE_INDEXED,
                new IndexColorModel(8, palette.length, palette, 0, false, -1, 0));
        for (int y = 0; y < part.getHeight(); y++) {
            for (int x = 0; x < part.getWidth(); x++) {
                int colour = part.getRGB(x, y) & 0xffffff;
                int index = nearest.computeIfAbsent(colour, wanted -> nearest(palette, wanted));
                reduced.getRaster().setSample(x, y, 0, index);
            }
        }
        ImageIO.write(reduced, "png", file.toFile());
    }

    private static int nearest(int[] palette, int colour) {
        int best = 0;
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < palette.length; i++) {
            int distance = 0;
            for (int shift = 0; shift <= 16; shift += 8) {
                int difference = (palette[i] >> shift & 0xff) - (colour >> shift & 0xff);
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
        return best;
    }
}
