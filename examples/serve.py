"""Serve a model over HTTP: ``MODEL=passengers.model uvicorn --app-dir examples serve:app``."""

import os

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

import naively

model = naively.load(os.environ["MODEL"])
classes = model.classes_.tolist()
app = FastAPI()


@app.get("/health")
async def health() -> dict:
    return {"status": "ok", "classes": classes}


@app.post("/predict")
async def predict(row: dict[str, bool | int | float | str | None]) -> dict[str, float]:
    return dict(zip(map(str, classes), model.predict_proba_one(row).tolist(), strict=True))


@app.exception_handler(naively.NaivelyError)
async def refuse(request: Request, error: naively.NaivelyError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=422)
