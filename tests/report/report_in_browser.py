"""Draws the HTML report of each scene in a real browser and looks at it: nothing on the console, nothing wider than
1280 pixels, every box and line with a place, and ink on the page.

    report_in_browser.py --browser chromium --run-reader run-reader --write-scene write_scene
"""

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

# Runs in a copy of the page, since the page itself has no script.
PROBE = """<script>
const boxes = [...document.querySelectorAll("rect,path,circle,line,text")].map(e => e.getBoundingClientRect());
document.title = JSON.stringify([document.documentElement.scrollWidth, boxes.length,
  boxes.filter(b => !isFinite(b.x) || !isFinite(b.width) || b.left < -1 || b.right > 1281).length,
  document.querySelectorAll(".verdict").length]);
</script>"""

# What the page of a scene has to show besides.
SHOWN = {"growing_rows": "batch x length x vocabulary x 2 B, grows linearly with the row length"}


def browse(options, page, *arguments):
    line = [options.browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    line += ["--window-size=1280,2000", "--enable-logging=stderr", *arguments, "file://" + page]
    return subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def rows_with_ink(path):
    """Share of a PNG's rows that are not of one colour."""
    data = open(path, "rb").read()
    width, _, _, kind = struct.unpack(">IIBB", data[16:26])
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = 1 + width * {2: 3, 6: 4}[kind]
    rows = [raw[start : start + stride] for start in range(0, len(raw), stride)]
    return sum(any(row[1:]) for row in rows) / len(rows)


def look(options, folder, name):
    page = os.path.join(folder, name + ".html")
    status = subprocess.run([options.run_reader, "report", os.path.join(folder, name), "-o", page]).returncode
    faults = [] if status in (0, 1, 3) else [f"run-reader report ends with {status}"]
    picture = os.path.join(folder, name + ".png")
    shot = browse(options, page, "--screenshot=" + picture)
    faults += [line for line in shot.stderr.splitlines() if "CONSOLE" in line]
    if rows_with_ink(picture) < 0.05:
        faults.append("the page is blank")
    text = open(page).read()
    probed = page[:-5] + "-probed.html"
    with open(probed, "w") as file:
        file.write(text.replace("</body>", PROBE + "</body>"))
    found = re.search(r"<title>\[(\d+),(\d+),(\d+),(\d+)\]</title>", browse(options, probed, "--dump-dom").stdout)
    if not found:
        return faults + ["the page did not load"]
    width, boxes, misplaced, verdicts = map(int, found.groups())
    if width > 1280:
        faults.append(f"the page is {width} pixels wide")
    if misplaced:
        faults.append(f"{misplaced} of {boxes} boxes lie outside of the page")
    if verdicts == 0:
        faults.append("there is no verdict on the page")
    if name in SHOWN and SHOWN[name] not in text:
        faults.append(f"the page does not show '{SHOWN[name]}'")
    return faults


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--browser", required=True)
    options.add_argument("--run-reader", required=True)
    options.add_argument("--write-scene", required=True)
    options = options.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        written = subprocess.run([options.write_scene, folder], stdout=subprocess.PIPE, text=True, check=True)
        names = written.stdout.split()
        for name in names:
            faults = look(options, folder, name)
            failed = failed or bool(faults)
            print(name + ": " + ("drawn" if not faults else "; ".join(faults)))
    sys.exit(1 if failed or not names else 0)


if __name__ == "__main__":
    main()
