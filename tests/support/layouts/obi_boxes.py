"""OBI-Bench's recognition: the same boxes in every form that annotation tools write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.layouts import Layout
from tests.support.released import obi_recognition, picture, put, table, voc

SIZE = (40, 60)
BOXES = {n: [(1, 1, 9 + k, 20) for k in range(n)] for n in (1, 2, 3)}
"""The boxes of `released.obi_recognition`, by the number of the image."""

READ = "public programs that open Train/b02519Z.json beside b02519Z.jpg and take its ann"

O2BR, AYNU = "O2BR", "YinQiWenYuan_detection"


def images(src: Path, folder: str = "images") -> None:
    """The three images, and the negative."""
    for number in BOXES:
        put(src / folder / f"bone{number}.png", picture(number))
    put(src / "negatives/tree.png", picture(9))


def dumped(path: Path, value: object) -> Path:
    return put(path, json.dumps(value, ensure_ascii=False))


def named(source: str, write: Callable[[Path], None]) -> Callable[[Path], Path]:
    """Write a layout into a folder that is called after its source."""

    def write_into(folder: Path) -> Path:
        write(folder / source)
        return folder / source

    return write_into


def yinqiwenyuan(src: Path) -> None:
    images(src, "Train")
    for number, boxes in BOXES.items():
        ann = [[*map(float, box), 1.0] for box in boxes]
        dumped(src / f"Train/bone{number}.json", {"img_name": f"bone{number}", "ann": ann})


def yinqiwenyuan_list(src: Path) -> None:
    images(src)
    bones = [{"img_name": f"bone{n}.png", "ann": [[*box, 1.0] for box in boxes]}
             for n, boxes in BOXES.items()]  # fmt: skip
    dumped(src / "annotations.json", bones)


def voc_beside(src: Path) -> None:
    images(src)
    for number, boxes in BOXES.items():
        voc(src / f"images/bone{number}.xml", *boxes)


def voc_devkit(src: Path) -> None:
    images(src, "VOC2007/JPEGImages")
    for number, boxes in BOXES.items():
        voc(src / f"VOC2007/Annotations/bone{number}.xml", *boxes)
    put(src / "VOC2007/ImageSets/Main/train.txt", "bone1\nbone2\nbone3\n")


def yolo_line(box: tuple[int, ...]) -> str:
    x0, y0, x1, y1 = box
    wide, high = SIZE
    shares = ((x0 + x1) / 2 / wide, (y0 + y1) / 2 / high, (x1 - x0) / wide, (y1 - y0) / high)
    return " ".join(["0", *(f"{share:.6f}" for share in shares)])


def outline(box: tuple[int, ...]) -> str:
    x0, y0, x1, y1 = box
    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    return " ".join(["0", *(f"{x / SIZE[0]:.6f} {y / SIZE[1]:.6f}" for x, y in corners)])


def yolo(src: Path, line: Callable[[tuple[int, ...]], str] = yolo_line) -> None:
    images(src, "images")
    put(src / "classes.txt", "character\n")
    for number, boxes in BOXES.items():
        put(src / f"images/bone{number}.txt", "".join(f"{line(box)}\n" for box in boxes))


def yolo_trees(src: Path) -> None:
    for number, boxes in BOXES.items():
        part = "val" if number == 3 else "train"
        put(src / f"images/{part}/bone{number}.png", picture(number))
        text = "".join(f"{yolo_line(box)}\n" for box in boxes)
        put(src / f"labels/{part}/bone{number}.txt", text)
    put(src / "data.yaml", "train: images/train\nval: images/val\nnames: [character]\n")
    put(src / "images/negatives/tree.png", picture(9))
    put(src / "labels/negatives/tree.txt", "")


def yolo_folders(src: Path) -> None:
    for number, boxes in BOXES.items():
        part = "valid" if number == 3 else "train"
        put(src / f"{part}/images/bone{number}.png", picture(number))
        text = "".join(f"{yolo_line(box)}\n" for box in boxes)
        put(src / f"{part}/labels/bone{number}.txt", text)
    put(src / "negatives/images/tree.png", picture(9))


def coco(numbers: Mapping[int, list[tuple[int, ...]]], folder: str = "") -> dict[str, object]:
    """A COCO file of some images, whose ids begin with 1."""
    listed, boxes = [], []
    for image_id, (number, of) in enumerate(numbers.items(), start=1):
        listed.append({"id": image_id, "file_name": f"{folder}bone{number}.png",
                       "width": SIZE[0], "height": SIZE[1]})  # fmt: skip
        for x0, y0, x1, y1 in of:
            boxes.append({"id": len(boxes) + 1, "image_id": image_id, "category_id": 1,
                          "iscrowd": 0, "bbox": [x0, y0, x1 - x0, y1 - y0]})  # fmt: skip
    return {"images": listed, "annotations": boxes, "categories": [{"id": 1, "name": "字"}]}


def coco_one(src: Path) -> None:
    images(src)
    dumped(src / "annotations/instances_all.json", coco(BOXES))


def coco_parts(src: Path) -> None:
    images(src)
    dumped(src / "annotations/instances_train.json", coco({n: BOXES[n] for n in (1, 2)}, "images/"))
    last = coco({3: BOXES[3]}, "E:\\obi\\images\\")
    crowd = {"id": 99, "image_id": 1, "category_id": 1, "iscrowd": 1, "bbox": [0, 0, 40, 60]}
    last["annotations"] = [*last["annotations"], crowd]  # type: ignore[misc]
    dumped(src / "annotations/instances_val.json", last)


def coco_polygons(src: Path) -> None:
    images(src)
    whole = coco(BOXES)
    for each in whole["annotations"]:  # type: ignore[attr-defined]
        x, y, wide, high = each.pop("bbox")
        each["segmentation"] = [[x, y, x + wide, y, x + wide, y + high, x, y + high]]
    dumped(src / "instances.json", whole | {"info": {"bbox": "none"}})


def labelme(src: Path, folder: str = "images") -> None:
    images(src)
    for number, boxes in BOXES.items():
        shapes = [
            {"label": "字", "points": [[x1, y0], [x0, y1]], "shape_type": "rectangle"}
            if k % 2
            else {"label": "字", "points": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
                  "shape_type": "polygon"}
            for k, (x0, y0, x1, y1) in enumerate(boxes)
        ]  # fmt: skip
        dumped(
            src / folder / f"bone{number}.json",
            {"version": "5.5.0", "flags": {}, "shapes": shapes, "imageData": "aGVsbG8=",
             "imagePath": f"..\\images\\bone{number}.png", "imageHeight": 60, "imageWidth": 40},
        )  # fmt: skip


def createml(src: Path, image: str = "image", boxes: str = "annotations") -> None:
    images(src)
    listed = [
        {image: f"bone{number}.png",
         boxes: [{"label": "字", "coordinates": {"x": (x0 + x1) / 2, "y": (y0 + y1) / 2,
                                                 "width": x1 - x0, "height": y1 - y0}}
                 for x0, y0, x1, y1 in of]}
        for number, of in BOXES.items()
    ]  # fmt: skip
    dumped(src / "images/images.json", listed)


def regions(of: list[tuple[int, ...]]) -> list[dict[str, object]]:
    return [
        {"region_attributes": {}, "shape_attributes":
            {"name": "rect", "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0}}
        for x0, y0, x1, y1 in of
    ]  # fmt: skip


def via(src: Path, *, project: bool = False) -> None:
    images(src)
    listed = {
        f"bone{number}.png1234": {"filename": f"bone{number}.png", "size": 1234,
                                  "regions": regions(of)}
        for number, of in BOXES.items()
    }  # fmt: skip
    whole: dict[str, object] = {"_via_settings": {}, "_via_img_metadata": listed}
    dumped(src / "via.json", whole if project else listed)


def rows_of(folder: str = "images/") -> list[tuple[object, ...]]:
    return [(f"{folder}bone{number}.png", *box) for number, of in BOXES.items() for box in of]


def boxes_csv(src: Path) -> None:
    images(src)
    table(src / "boxes.csv", ("image", "xmin", "ymin", "xmax", "ymax"), *rows_of())


def sizes_csv(src: Path) -> None:
    images(src)
    rows = [(name, x0, y0, x1 - x0, y1 - y0) for name, x0, y0, x1, y1 in rows_of("")]
    table(src / "annotations.csv", ("image_name", "x", "y", "width", "height"), *rows)


def tensorflow_csv(src: Path) -> None:
    images(src)
    heads = ("filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax")
    rows = [(name, *SIZE, "字", *box) for name, *box in rows_of("")]
    table(src / "train_labels.csv", heads, *rows)


def retinanet_csv(src: Path) -> None:
    images(src)
    lines = [",".join(map(str, (*row, "character"))) for row in rows_of("/data/imgs/")]
    put(src / "train.csv", "\n".join([*lines, "/data/imgs/tree.png,,,,,"]) + "\n")
    put(src / "classes.csv", "character,0\n")


def in_three_forms(src: Path) -> None:
    voc_beside(src)
    yolo(src)
    createml(src)


def no_boxes(src: Path) -> None:
    images(src)


def _layout(
    name: str,
    files: str,
    where: str,
    write: Callable[[Path], None],
    folder: str = O2BR,
    **more: object,
) -> Layout:
    evidence = "seen in code that reads the release" if where else "assumed"
    given: dict[str, object] = {
        "source": "OBI-Bench: O2BR",
        "canonical": "obi-recognition: Pascal VOC",
        "evidence": evidence,
        "reader": "obi-recognition",
        "ignoring": ("metadata",),
    }
    given["write"] = named(folder, write)
    return Layout(  # type: ignore[arg-type]
        name=f"obi-recognition: {name}", files=files, where=where, **(given | more)
    )


_AYNU = {"source": "OBI-Bench: YinQiWenYuan_detection",
         "canonical": "obi-recognition: YinQiWenYuan in Pascal VOC"}  # fmt: skip

LAYOUTS = [
    _layout(
        "Pascal VOC", "Pascal VOC: images/bone1.png; annotations/bone1.xml", "", obi_recognition
    ),
    _layout(
        "Pascal VOC beside the images",
        "Pascal VOC: images/bone1.png; images/bone1.xml",
        "",
        voc_beside,
    ),
    _layout(
        "Pascal VOC's own tree",
        "Pascal VOC: JPEGImages/bone1.png; Annotations/bone1.xml",
        "",
        voc_devkit,
    ),
    _layout("YOLO of LabelImg", "YOLO: images/bone1.txt; classes.txt", "", yolo),
    _layout(
        "YOLO, parallel trees",
        "YOLO: images/train/bone1.png; labels/train/bone1.txt",
        "",
        yolo_trees,
    ),
    _layout(
        "YOLO, a folder for each part",
        "YOLO: train/images/bone1.png; train/labels/bone1.txt",
        "",
        yolo_folders,
    ),
    _layout(
        "YOLO outlines",
        "YOLO outlines: images/bone1.txt: class x1 y1 x2 y2 x3 y3 …",
        "",
        lambda src: yolo(src, outline),
    ),
    _layout(
        "Create ML of LabelImg", "Create ML: images/images.json: image, annotations", "", createml
    ),
    _layout(
        "Create ML as Apple writes it",
        "Create ML: images/images.json: imagefilename, annotation",
        "",
        lambda src: createml(src, "imagefilename", "annotation"),
    ),
    _layout("COCO", "COCO: annotations/instances_all.json", "", coco_one),
    _layout("COCO in parts", "COCO: instances_train.json; instances_val.json", "", coco_parts),
    _layout("COCO polygons", "COCO: instances.json: segmentation without bbox", "", coco_polygons),
    _layout("labelme", "labelme: images/bone1.png; images/bone1.json", "", labelme),
    _layout(
        "labelme, a folder for each",
        "labelme: images/bone1.png; json/bone1.json",
        "",
        lambda src: labelme(src, "json"),
    ),
    _layout("VIA annotations", "VIA: via.json", "", via),
    _layout(
        "VIA project", "VIA: via.json: _via_img_metadata", "", lambda src: via(src, project=True)
    ),
    _layout("boxes.csv", "table: boxes.csv: image, xmin, ymin, xmax, ymax", "", boxes_csv),
    _layout(
        "table of sizes", "table: annotations.csv: image_name, x, y, width, height", "", sizes_csv
    ),
    _layout(
        "table of TensorFlow",
        "table: train_labels.csv: filename, width, height, class, xmin …",
        "",
        tensorflow_csv,
    ),
    _layout(
        "table without column names",
        "train.csv: path,x1,y1,x2,y2,class",
        "",
        retinanet_csv,
        missing="expected boxes as",
    ),
    _layout(
        "YinQiWenYuan in Pascal VOC",
        "images/bone1.png; annotations/bone1.xml",
        "",
        obi_recognition,
        AYNU,
        **_AYNU,
    ),
    _layout(
        "YinQiWenYuan",
        'Train/b02519Z.jpg; Train/b02519Z.json: {"img_name", "ann"}',
        READ,
        yinqiwenyuan,
        AYNU,
        **_AYNU,
    ),
    _layout(
        "YinQiWenYuan in one file",
        'annotations.json: [{"img_name", "ann"}, …]',
        "",
        yinqiwenyuan_list,
        "AYNU",
        **_AYNU,
    ),
    _layout(
        "three forms at once",
        "bone1.xml; bone1.txt; images.json",
        "",
        in_three_forms,
        missing="found Pascal VOC (images/bone1.xml), ",
    ),
    _layout(
        "images alone", "images/bone1.png without boxes", "", no_boxes, missing="expected boxes as"
    ),
]
